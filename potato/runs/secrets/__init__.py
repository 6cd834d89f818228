"""Keys and personal data in runs: found by rules of our own, and replaced by placeholders of the same length."""

from potato.runs.secrets.found import Found, find, hide
from potato.runs.secrets.replacing import (
    ChangeDiffers,
    Place,
    RunSecrets,
    placeholder,
    secrets_in_run,
    without_secrets,
)
from potato.runs.secrets.rules import RULES, Group, Rule, label_of

__all__ = [
    "RULES",
    "ChangeDiffers",
    "Found",
    "Group",
    "Place",
    "Rule",
    "RunSecrets",
    "find",
    "hide",
    "label_of",
    "placeholder",
    "secrets_in_run",
    "without_secrets",
]
