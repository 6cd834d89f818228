"""Looks for keys and personal data in runs that come in, and does with them what the configuration says."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils import timezone

from jobs.row_text import storable
from potato.configuration.project import Secrets
from potato.runs.changes.model import FileChange
from potato.runs.converters.native import run_as_native
from potato.runs.exact_json import hash_and_length
from potato.runs.model import ConversionReport, Converted
from potato.runs.secrets import (
    RULES,
    ChangeDiffers,
    Group,
    Place,
    RunSecrets,
    label_of,
    placeholder,
    secrets_in_run,
    without_secrets,
)
from tenancy.models import new_id
from traces.models import SecretsState

DEFAULT = Secrets()
PLACES_KEPT = 200
_GROUPS: tuple[Group, ...] = ("keys", "personal_data")


@dataclass(frozen=True, slots=True)
class Screened:
    """A run in which something was found, with placeholders where the project asks for them, and what it is then.

    `original_sha256` is the hash of the run before, "" where nothing was replaced.
    """

    converted: Converted
    secrets: RunSecrets
    state: SecretsState
    original_sha256: str = ""


def screen(converted: Converted, rules: Secrets = DEFAULT) -> Screened | None:
    """What was found in the run; None where that is nothing. What cannot be replaced without another change is held."""
    asked = {group: getattr(rules, group) for group in _GROUPS}
    secrets = secrets_in_run(converted.run, groups_searched_for(rules))
    if not secrets:
        return None
    found = {asked[group] for group in secrets.groups}
    held, original = "hold" in found, ""
    for group in secrets.groups:
        if asked[group] != "replace":
            continue
        try:
            changed = with_placeholders(converted, secrets.of(group))
        except ChangeDiffers:
            held = True
        else:
            original = original or run_sha256(converted)
            converted = changed
    unheld = SecretsState.REPLACED if original else SecretsState.REPORTED
    state = SecretsState.HELD if held else unheld
    return Screened(converted, secrets, state, original)


def groups_searched_for(rules: Secrets) -> set[Group]:
    """What the project does not ignore."""
    return {group for group in _GROUPS if getattr(rules, group) != "ignore"}


def with_placeholders(converted: Converted, secrets: RunSecrets) -> Converted:
    """The run, and what its conversion reports, without the secrets. Raises ChangeDiffers."""
    run = without_secrets(converted.run, secrets)
    report = ConversionReport(
        **{
            name: Counter({secrets.replaced_in(key): number for key, number in getattr(converted.report, name).items()})
            for name in ("dropped", "unknown", "repairs")
        }
    )
    return replace(converted, run=run, report=report)


def run_sha256(converted: Converted) -> str:
    """The hash by which a run is known when it comes again."""
    return hash_and_length(run_as_native(converted.run))[0]


def secrets_row(trace: str, screened: Screened, files: Sequence[FileChange]) -> dict[str, Any]:
    """The columns of a TraceSecrets."""
    return {
        "id": str(new_id()),
        "trace_id": trace,
        "state": screened.state.value,
        **found_columns(screened.secrets, files),
        "found_at": timezone.now(),
        "decided_by_id": None,
        "decided_at": None,
    }


def found_columns(secrets: RunSecrets, files: Sequence[FileChange]) -> dict[str, Any]:
    """What was found and where, by the names of columns; lines of the change are named as its readers see them."""
    in_change = list(_places_in(files, secrets))
    others = [place for place in secrets.places if not (in_change and (place.file or place.part == "patch"))]
    places = [*others, *in_change]
    return {
        "kinds": secrets.kinds,
        "places": [
            {**asdict(place), "file": storable(place.file, 1_000), "part": storable(place.part, 100)}
            for place in places[:PLACES_KEPT]
        ],
        "occurrences": max(len(places), secrets.occurrences),
    }


def _places_in(files: Sequence[FileChange], secrets: RunSecrets) -> Iterator[Place]:
    """Changed lines with a secret, or with what stands for it now."""
    signs: dict[str, str] = {}
    for value, (kind, number) in secrets.values.items():
        signs[value] = kind
        if len(value) > len(kind):
            signs[placeholder(kind, number, len(value))] = kind
    for file in files:
        for hunk in file.shown_hunks:
            for line in hunk.lines:
                if line.kind == "context":
                    continue
                kinds = {kind for sign, kind in signs.items() if sign in line.text}
                part = "added line" if line.kind == "add" else "removed line"
                number = (line.new_no if line.kind == "add" else line.old_no) or 0
                path = secrets.replaced_in(file.path) if kinds else ""
                yield from (Place(kind, None, part, path, number) for kind in sorted(kinds))


def in_words(kinds: dict[str, int]) -> str:
    """As in "2 GitHub tokens, 1 private key"."""
    ordered = dict.fromkeys(rule.kind for rule in RULES)
    return ", ".join(f"{kinds[kind]:,} {label_of(kind, kinds[kind])}" for kind in ordered if kind in kinds)
