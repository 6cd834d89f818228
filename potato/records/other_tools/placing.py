"""Puts what was said in another tool under the schemes of a project: annotations as records have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from potato.configuration import ProjectConfiguration
from potato.records.other_tools.model import Found, Reading, Said, Unplaced, utc_timestamp
from potato.schemes.registry import SchemeConfiguration, scheme_types
from potato.schemes.statements import Statement
from potato.wording import listed, shortened

_STEP = re.compile(r"(?P<name>.+?)[_.\[ ](?P<step>\d{1,6})\]?")
_LONGEST = 200
_IDS = 20


@dataclass(frozen=True, slots=True)
class PlacedRecord:
    """A record of the site, and where what it says stands in the file."""

    place: str
    record: Mapping[str, Any]


@dataclass
class _Group:
    """What one author said of one trace."""

    first: Found
    found: list[Found] = field(default_factory=list)


def place_all(
    found: Iterable[Found | Unplaced],
    configuration: ProjectConfiguration,
    reading: Reading,
    *,
    tool: str,
    title: str,
    file: str,
) -> Iterator[PlacedRecord | Unplaced]:
    """A record for each author and trace, in the order in which they come first; what has no place comes where it is
    met. `tool` is the reader's name and `title` what people call the tool."""
    groups: dict[tuple[str, int | None, str], _Group] = {}
    for each in found:
        if isinstance(each, Unplaced):
            yield each
            continue
        group = groups.setdefault((each.trace, each.trace_version, each.author), _Group(each))
        group.found.append(each)
    for group in groups.values():
        yield from _placed(group, configuration, reading, tool, title, file)


def _placed(
    group: _Group, configuration: ProjectConfiguration, reading: Reading, tool: str, title: str, file: str
) -> Iterator[PlacedRecord | Unplaced]:
    first = group.first
    times = [utc_timestamp(each.at) or "" for each in group.found]
    # Readers know better where not every one says when it was made.
    ordered = [each for _, each in sorted(zip(times, group.found, strict=True), key=lambda pair: pair[0])]
    statements: dict[str, list[Statement]] = {}
    for each in ordered if all(times) and tool != "github" else group.found:
        for said in each.said:
            for one in _each_value(said):
                placed = _statement(one, configuration, reading)
                if isinstance(placed, Unplaced):
                    yield placed
                else:
                    statements.setdefault(placed[0], []).append(placed[1])
    annotations: dict[str, Any] = {}
    for scheme in configuration.annotation_schemes:
        if said_here := statements.get(scheme.name):
            answers, unplaced = scheme_types()[scheme.annotation_type].answers_from(said_here, scheme)
            yield from unplaced
            if answers:
                annotations[scheme.name] = answers
    if not annotations:
        return
    ids = [each.id for each in group.found if each.id]
    shown = [*ids[:_IDS], *(["..."] if len(ids) > _IDS else [])]
    record = {
        "id": first.trace,
        **({"trace_version": first.trace_version} if first.trace_version else {}),
        **({"timestamp": max(times)} if max(times) else {}),
        "source": {
            "name": f"{first.author[: _LONGEST - len(title) - 3]} ({title})",
            "version": reading.version,
            "kind": first.kind,
        },
        "origin": {"tool": tool, "file": file[:_LONGEST], "id": ", ".join(shown), "author": first.author[:_LONGEST]},
        "annotations": annotations,
    }
    yield PlacedRecord(first.place, record)


def _each_value(said: Said) -> Iterator[Said]:
    """Of several options that were chosen each by itself; lists of objects are whole answers."""
    if isinstance(said.value, list) and said.value and not isinstance(said.value[0], Mapping | list):
        for value in said.value:
            yield Said(value, said.name, said.annotation_type, said.part, said.step, said.file, said.text, said.place)
    else:
        yield said


def _statement(said: Said, configuration: ProjectConfiguration, reading: Reading) -> tuple[str, Statement] | Unplaced:
    """The scheme that is meant and the statement for it."""
    meant = _meant(said, configuration, reading.names)
    if meant is None:
        names = listed([scheme.name for scheme in configuration.annotation_schemes], "or")
        asked = f"“{shortened(said.name)}”" if said.name else f"anything of the type {said.annotation_type}"
        hint = f" Say which one is meant, such as {said.name}={names}." if said.name else ""
        return Unplaced(said.place, f"This project does not ask {asked}.{hint}")
    scheme, part, step = meant
    value = said.value
    if isinstance(value, str | int | float | bool):
        written = _written(value)
        value = reading.values.get(f"{said.name}:{written}", reading.values.get(written, value))
    statement = Statement(said.place, value, part, said.step if said.step is not None else step, said.file, said.text)
    return scheme.name, statement


def _meant(
    said: Said, configuration: ProjectConfiguration, names: Mapping[str, str]
) -> tuple[SchemeConfiguration, str, int | None] | None:
    schemes = {scheme.name: scheme for scheme in configuration.annotation_schemes}
    wanted = names.get(said.name, said.name)
    if wanted in schemes:
        return schemes[wanted], said.part, None
    scheme, _, part = wanted.partition(".")
    if scheme in schemes and part and not part.isdecimal():
        return schemes[scheme], part, None
    if (numbered := _STEP.fullmatch(wanted)) and (base := names.get(numbered["name"], numbered["name"])) in schemes:
        return schemes[base], said.part, int(numbered["step"])
    of_type = [scheme for scheme in schemes.values() if scheme.annotation_type == said.annotation_type]
    return (of_type[0], said.part, None) if len(of_type) == 1 else None


def _written(value: str | float | bool) -> str:
    """A value as people name it in a list of what is meant."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
