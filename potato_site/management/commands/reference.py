"""Writes the pages of docs/ that are made from the code, which a test compares with the code of today."""

from typing import Any

from django.core.management.base import BaseCommand

from potato_site.reference import PLACE, references


class Command(BaseCommand):
    help = "Write the references of the configuration and of the export formats to docs/."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for name, text in references().items():
            (PLACE / name).write_text(text, encoding="utf-8")
            self.stdout.write(f"Wrote docs/{name}.")
