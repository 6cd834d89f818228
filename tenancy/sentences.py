"""What the audit trail says of each decision, as a sentence with names and links. Apps register their verbs in ready().

A sentence is written as "released {target} of {project}[ with {traces:trace}]": the person stands before it, or it
begins with "=" and has none. A name in braces is `target`, `project`, `trace`, or a fact of the decision; after a colon
stands the noun that is counted ("trace", "person|people"), a quotation mark for a text of a person's, or "and" for
several of these. What stands in square brackets is left out where one of its facts is empty. Nothing is read here:
links come from whoever shows it.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from potato.wording import listed


@dataclass(frozen=True)
class Piece:
    """A part of a sentence; a name where `is_name`, with the address of what it names where that is still there."""

    text: str
    url: str = ""
    is_name: bool = False


@dataclass(frozen=True)
class Verb:
    """How a decision is told. `changes` is false for those that changed nothing of the organisation's data."""

    sentence: str
    icon: str
    about: str
    changes: bool = True


class Decision(Protocol):
    """An event of the audit trail, as far as a sentence needs it."""

    verb: str
    person_name: str
    target_type: str
    target_id: UUID | None
    target_label: str
    of_project: UUID | None
    detail: Any


@dataclass(frozen=True)
class Link:
    text: str
    url: str


Links = Callable[[Any, Collection[str]], Mapping[str, Link]]
"""Answers, for a request and some keys, those that are there and may be seen."""

_verbs: dict[str, Verb] = {}
_links: dict[str, Links] = {}
_FIELD = re.compile(r"\{(\w+)(?::([^}]+))?\}")
_CLAUSE = re.compile(r"\[([^\]]+)\]")


def register(about: str, verbs: Mapping[str, tuple[str, str]], *, changes: bool = True) -> None:
    """Sentences and icons by verb, all `about` one thing, which a list is narrowed to."""
    _verbs.update({verb: Verb(sentence, icon, about, changes) for verb, (sentence, icon) in verbs.items()})


def register_links(kind: str, links: Links) -> None:
    """`kind` is the type of a target, as in "batch", or "project slug" and "trace" for what stands among the facts."""
    _links[kind] = links


def known_verbs() -> Mapping[str, Verb]:
    return _verbs


def subjects() -> list[str]:
    """What decisions are about."""
    return sorted({verb.about for verb in _verbs.values()})


def verbs_about(about: str) -> list[str]:
    return [name for name, verb in _verbs.items() if verb.about == about]


def read_only_verbs() -> list[str]:
    """Those that changed nothing of the organisation's data."""
    return [name for name, verb in _verbs.items() if not verb.changes]


def icon_for(verb: str) -> str:
    return _verbs[verb].icon if verb in _verbs else "history"


def links_for(request: Any, decisions: Collection[Decision]) -> dict[tuple[str, str], Link]:
    """What the sentences of these decisions link to, by kind and key, with one question for each kind."""
    wanted: dict[str, set[str]] = {}
    for decision in decisions:
        for kind, key in _named(decision):
            wanted.setdefault(kind, set()).add(key)
    return {
        (kind, key): link
        for kind, keys in wanted.items()
        if kind in _links
        for key, link in _links[kind](request, keys).items()
    }


def pieces(decision: Decision, links: Mapping[tuple[str, str], Link]) -> list[Piece]:
    """The sentence of the decision. One that nobody has written a sentence for is told by the words of its verb."""
    known = _verbs.get(decision.verb)
    text = known.sentence if known else _readable(decision)
    clauses = _CLAUSE.sub(lambda clause: clause[1] if _has_all(clause[1], decision) else "", text)
    whole = clauses.removeprefix("=") if clauses.startswith("=") else f"{{person}} {clauses}"
    parts: list[Piece] = []
    end = 0
    for field in _FIELD.finditer(whole):
        parts += [Piece(whole[end : field.start()]), *_field(field[1], field[2] or "", decision, links)]
        end = field.end()
    return [part for part in [*parts, Piece(whole[end:] + ".")] if part.text]


def as_text(decision: Decision, links: Mapping[tuple[str, str], Link] | None = None) -> str:
    return "".join(piece.text for piece in pieces(decision, links or {}))


def _field(name: str, form: str, decision: Decision, links: Mapping[tuple[str, str], Link]) -> list[Piece]:
    detail = _facts(decision)
    if name == "person":
        return [Piece(decision.person_name or "The system", is_name=True)]
    if name == "target":
        link = links.get((decision.target_type, str(decision.target_id)))
        label = decision.target_label or decision.target_type
        return [Piece(link.text or label if link else label, link.url if link else "", is_name=True)]
    value = detail.get(name)
    if name == "project" and not isinstance(value, str):
        return [_linked("project", str(decision.of_project), links)]
    if name in ("project", "trace"):
        return [_linked("project slug" if name == "project" else "trace", str(value), links)]
    if name == "projects" and isinstance(value, list):
        names = [_linked("project slug", str(slug), links) for slug in value]
        return [piece for number, one in enumerate(names) for piece in ([Piece(", ")] if number else []) + [one]]
    if form == "and" and isinstance(value, list) and value:
        return [Piece(listed((f"“{each}”" for each in value), "and"))]
    if form == "“":
        return [Piece(f"“{_in_words(value)}”")]
    if form and isinstance(value, int):
        single, _, several = form.partition("|")
        return [Piece(f"{value:,} {single if value == 1 else several or f'{single}s'}")]
    return [Piece(_in_words(value))]


def _linked(kind: str, key: str, links: Mapping[tuple[str, str], Link]) -> Piece:
    link = links.get((kind, key))
    if link is not None:
        return Piece(link.text, link.url, is_name=True)
    return Piece(key if kind == "project slug" else f"a {kind}", is_name=kind == "project slug")


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict):
        return str(value.get("name", ""))
    if isinstance(value, list):
        return " to ".join(map(str, value)) if len(value) == 2 else ", ".join(map(str, value))
    return "" if value is None else str(value)


def _facts(decision: Decision) -> Mapping[str, Any]:
    return decision.detail if isinstance(decision.detail, dict) else {}


def _has_all(clause: str, decision: Decision) -> bool:
    facts = _facts(decision)
    there = {"person": True, "target": True, "project": facts.get("project") or decision.of_project}
    return all(
        there.get(field[1], facts.get(field[1])) not in (None, "", 0, [], {}, ["0"])
        for field in _FIELD.finditer(clause)
    )


def _readable(decision: Decision) -> str:
    """As "gave back: assignment" of "assignment.given-back": never more than the words of the verb and the target."""
    noun, _, done = decision.verb.rpartition(".")
    words = f"{noun} {done}".replace("_", " ").replace("-", " ").replace(".", " ").strip()
    return f"noted: {_escape(words)}" + (", {target}" if decision.target_label else "")


def _escape(text: str) -> str:
    return re.sub(r"[{}\[\]]", "", text)


def _named(decision: Decision) -> list[tuple[str, str]]:
    facts = _facts(decision)
    named = [(decision.target_type, str(decision.target_id))] if decision.target_id else []
    slugs = [facts.get("project"), *(facts.get("projects") or [] if isinstance(facts.get("projects"), list) else [])]
    if decision.of_project:
        named.append(("project", str(decision.of_project)))
    named += [("project slug", slug) for slug in slugs if isinstance(slug, str) and slug]
    if isinstance(facts.get("trace"), str):
        named.append(("trace", facts["trace"]))
    return named
