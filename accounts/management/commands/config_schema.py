"""Prints the JSON Schema of a project's YAML, for completion in an editor."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from potato.configuration import json_schema


class Command(BaseCommand):
    help = "Print the JSON Schema of config.yaml, made from the models that check it."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False))
