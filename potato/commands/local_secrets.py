"""What the command `potato check-secrets` does: it says what in runs nobody should read, and never shows it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict
from typing import Any

from potato.commands.local import entries_of, files_in
from potato.commands.terminal import DONE, FAILED, Failure, put_json, say
from potato.runs.converters.native import run_as_native
from potato.runs.model import AgentRun, Converted
from potato.runs.secrets import (
    ChangeDiffers,
    Group,
    Place,
    RunSecrets,
    hide,
    label_of,
    secrets_in_run,
    without_secrets,
)
from potato.runs.secrets.found import ALL
from potato.wording import counted


def check_secrets(flags: argparse.Namespace) -> int:
    """Report what is found in each run; with `output` write the runs with placeholders. Fails where something was
    found and is not replaced."""
    groups: frozenset[Group] = frozenset({flags.only}) if flags.only else ALL
    if flags.output is not None and flags.output.exists():
        raise Failure(f"{flags.output} is there already. Name a new file.")
    found: list[dict[str, Any]] = []
    runs = left = unread = 0
    written: list[str] = []
    for path in files_in(flags.files):
        for entry in entries_of(path, flags.format):
            if not isinstance(entry, Converted):
                unread += 1
                say(f"{path}, entry {entry.place}: {hide(entry.sentence)}", colour="yellow")
                continue
            runs += 1
            secrets = secrets_in_run(entry.run, groups)
            name = hide(entry.run.external_id) or path.stem
            if secrets:
                found.append({"file": str(path), "run": name, **_facts(secrets)})
            if flags.output is None:
                left += bool(secrets)
            elif (run := _replaced(entry.run, secrets, f"{path}, {name}")) is not None:
                native = run_as_native(run)
                native.setdefault("id", path.stem)
                written.append(json.dumps(native) + "\n")
            else:
                left += 1
    if flags.output is not None:
        flags.output.write_text("".join(written), encoding="utf-8")
    if flags.json:
        put_json({"runs": runs, "unread": unread, "found": found})
    else:
        _print(found)
    say(f"{counted(len(found), 'run')} of {runs:,} with secrets, {unread} not read.")
    if not runs:
        return FAILED
    return FAILED if left else DONE


def _replaced(run: AgentRun, secrets: RunSecrets, name: str) -> AgentRun | None:
    try:
        return without_secrets(run, secrets)
    except ChangeDiffers:
        say(f"{name}: left out, because with placeholders its change would be another one.", colour="red")
        return None


def _facts(secrets: RunSecrets) -> dict[str, Any]:
    return {"kinds": secrets.kinds, "places": [asdict(place) for place in secrets.places]}


def _print(found: list[dict[str, Any]]) -> None:
    for each in found:
        print(f"{each['file']}, {each['run']}")
        places = Counter(tuple(place.items()) for place in each["places"])
        for kind, number in each["kinds"].items():
            print(f"  {number:,} {label_of(kind, number)}")
            for place in places:
                facts = Place(**dict(place))
                if facts.kind == kind:
                    print(f"    {_where(facts)}")


def _where(place: Place) -> str:
    parts = [place.file] if place.file else []
    parts += [f"step {place.step}"] if place.step is not None else []
    parts += [place.part] if place.part else []
    return ", ".join([*parts, f"line {place.line}"])
