"""What an adjudicator says of one question: whose answer stays, what is written in its place, or that it goes.

Nothing of a value is taken as it comes but the fields that its question offers; the rest is the annotators' own.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from adjudication.compared import ComparedAnnotations
from adjudication.errors import BadSettlement, QuestionsLeft
from potato.api.adjudication import LONGEST_NOTE
from potato.schemes.parts import Field, Part
from potato.statistics.agreement.settling import Item, answer_in, settled_part
from potato.wording import lines_in_words

How = Literal["agreed", "consensus", "kept", "merged", "rewritten", "dropped"]
LONGEST_TEXT = 20_000
LONGEST_WORDS = 300


@dataclass(frozen=True)
class Settlement:
    """`taken_from` are submissions: of what is kept one, of what is merged several. `fields` are what was written anew.
    `note` says why, for the annotators."""

    scheme: str
    key: str
    how: How
    taken_from: tuple[UUID, ...] = ()
    fields: Mapping[str, Any] | None = None
    note: str = ""


@dataclass(frozen=True)
class Settled:
    """A question with its final value, None where it is left out of the annotation."""

    item: Item
    how: How
    taken_from: tuple[UUID, ...]
    value: Mapping[str, Any] | None
    note: str = ""


def settled(compared: ComparedAnnotations, settlements: Mapping[tuple[str, str], Settlement]) -> list[Settled]:
    """Every question with its final value: as the adjudicator says, else as all say or as most do.

    Raises QuestionsLeft with those that a person has to settle and nobody did, and BadSettlement.
    """
    for scheme, key in settlements:
        if (scheme, key) not in compared.keys:
            raise BadSettlement(f"There is no question {key[:100]!r} of {scheme[:100]!r} on this trace.")
    left: list[dict[str, str]] = []
    done = []
    for item in compared.items:
        settlement = settlements.get((item.scheme, item.key))
        if settlement is not None:
            done.append(_by_adjudicator(compared, item, settlement))
        elif item.is_open:
            left.append({"scheme": item.scheme, "key": item.key, "title": title_of(item)})
        else:
            done.append(_filled_in(compared, item))
    if left:
        raise QuestionsLeft(left)
    return done


def title_of(item: Item) -> str:
    """The question in words, as a list shows it: "Comment on parser.py line 15", "Correctness of parser.py"."""
    part = item.shown
    if part.place is not None:
        lines = lines_in_words(part.place.first, part.place.last)
        return f"{part.title} on {_name(part.place.file)} {lines}"
    return f"{part.title} of {_name(part.file)}" if part.file else part.title


def sides(compared: ComparedAnnotations, done: Settled) -> list[UUID]:
    """The submissions that say what became final."""
    final = final_answer(compared, done)
    return [row.pk for row, answer in zip(compared.submissions, done.item.answers, strict=True) if answer == final]


def final_answer(compared: ComparedAnnotations, done: Settled) -> Hashable:
    return None if done.value is None else answer_in(done.value, done.item, compared.configuration)


def final_words(compared: ComparedAnnotations, done: Settled) -> str:
    """What became final, as a list shows it: "Approve", "3", "Bug, Major: Reads past the end."."""
    if done.value is None:
        return ""
    part = settled_part(done.value, done.item, compared.configuration)
    if part is None or not part.opinions:
        return ""
    first = part.opinions[0]
    chosen = ", ".join(choice.words for choice in first.choices) or (
        "" if first.number is None else f"{first.number:g}"
    )
    words = ": ".join(filter(None, (chosen, first.text)))
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}\u2026"


def _filled_in(compared: ComparedAnnotations, item: Item) -> Settled:
    at = item.consensus
    part = None if at is None else item.parts[at]
    if at is None or part is None:
        # All say nothing alike: there is no such question, for a question is what somebody answers.
        raise AssertionError(item.key)
    return Settled(item, "consensus" if item.differs else "agreed", (compared.submissions[at].pk,), part.value)


def _by_adjudicator(compared: ComparedAnnotations, item: Item, settlement: Settlement) -> Settled:
    where = title_of(item)
    note = settlement.note.strip()[:LONGEST_NOTE]
    if settlement.how in ("agreed", "consensus"):
        if item.consensus is None:
            raise BadSettlement(f"{where}: there is no consensus that could be taken.")
        taken = _filled_in(compared, item)
        return Settled(item, taken.how, taken.taken_from, taken.value, note)
    if settlement.how == "dropped":
        if not item.shown.is_optional:
            raise BadSettlement(f"{where}: this question has to be answered.")
        return Settled(item, "dropped", (), None, note)
    parts = dict(zip((row.pk for row in compared.submissions), item.parts, strict=True))
    sources = [part for pk in settlement.taken_from if (part := parts.get(pk)) is not None]
    if len(sources) < len(settlement.taken_from) or (settlement.how != "rewritten" and not sources):
        raise BadSettlement(f"{where}: it can be taken from an annotation of this trace that answers it.")
    if settlement.how == "kept":
        if len(sources) != 1 or settlement.fields:
            raise BadSettlement(f"{where}: one annotation's answer is kept as it is; anything else is a merge.")
        return Settled(item, "kept", settlement.taken_from, sources[0].value, note)
    base = sources[0] if sources else item.shown
    return Settled(item, settlement.how, settlement.taken_from, _written(where, base, settlement.fields or {}), note)


def _written(where: str, base: Part, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The value of the part with these fields in place of its own."""
    offered = {field.name: field for field in base.fields}
    if not offered:
        raise BadSettlement(f"{where}: it can only be kept as one of the annotators answered it.")
    value = dict(base.value)
    for name, written in fields.items():
        if name not in offered:
            raise BadSettlement(f"{where}: {name[:100]!r} cannot be written.")
        value[name] = _checked(where, offered[name], written)
    return value


def _checked(where: str, field: Field, written: Any) -> Any:
    if field.offers:
        if any(written == offer.value and type(written) is type(offer.value) for offer in field.offers):
            return written
        if written is None and not field.is_required:
            return None
        raise BadSettlement(f"{where}: choose one of the values of {field.title}.")
    if written is not None and not (isinstance(written, str) and len(written) <= LONGEST_TEXT):
        raise BadSettlement(f"{where}: {field.title} must be a text of at most {LONGEST_TEXT:,} characters.")
    return written


def _name(path: str) -> str:
    return path.rpartition("/")[2] or path
