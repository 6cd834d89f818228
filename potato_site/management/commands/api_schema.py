"""Writes docs/openapi.yaml, which a test compares with the routes of today."""

from typing import Any

from django.core.management.base import BaseCommand

from potato_site.api_schema import PLACE, api_schema_yaml


class Command(BaseCommand):
    help = "Write the OpenAPI description of the API to docs/openapi.yaml."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        PLACE.write_text(api_schema_yaml(), encoding="utf-8")
        self.stdout.write(f"Wrote {PLACE.relative_to(PLACE.parents[1])}.")
