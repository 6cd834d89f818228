"""Chooses the converter for a file by its beginning, and says why; or says what the file is instead of a trace."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from potato.runs.converters.foreign import foreign_kind
from potato.runs.converters.outline import Outline, detect_outline
from potato.runs.converters.registry import trace_converters
from potato.runs.model import Converter, RunFile

AUTOMATIC = "auto"
SURE_ENOUGH = 0.5
_MOST_KEYS_SHOWN = 6
_BY_BEGINNING = (
    (b"\x1f\x8b", "it is packed with gzip; unpack it first (gunzip, or tar -xzf)"),
    (b"BZh", "it is packed with bzip2; unpack it first (bunzip2)"),
    (b"\xfd7zXZ\0", "it is packed with xz; unpack it first (unxz)"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7-Zip archive; pack it as a ZIP"),
    (b"PAR1", "it is a table as Parquet; write its rows as JSON lines"),
    (b"ARROW1", "it is a table as Arrow; write its rows as JSON lines"),
    (b"SQLite format 3\0", "it is a data base of SQLite; export its runs as JSON"),
)


@dataclass(frozen=True, slots=True)
class ChosenConverter:
    """The converter for a file and a sentence that says why it is the one."""

    converter: Converter
    sentence: str


class NotATrace(Exception):  # noqa: N818  (an answer to the person who uploaded the file)
    """No converter reads the file, or not the one that was named; the sentence says why."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def choose(source: RunFile, *, named: str = AUTOMATIC, explicit: bool = False) -> ChosenConverter:
    """The converter for the file.

    `named` is a format or "auto". A format that the project names must be the file's: where it is not, NotATrace
    names both. An `explicit` one, of somebody who looked at this file, wins over what the file looks like.
    """
    converters = trace_converters()
    if named != AUTOMATIC and named not in converters:
        raise NotATrace("no_converter", f"No converter for {named} is installed. Potato reads {_formats()}.")
    if named != AUTOMATIC and explicit:
        return ChosenConverter(converters[named], f"{source.name} is read as {named}: the import was told so.")
    head = source.head()
    name = PurePosixPath(source.name).name
    claims = [(*converter.recognises(head, name), converter) for converter in converters.values()]
    sureness, reason, best = max(claims, key=lambda answer: answer[0])
    foreign = foreign_kind(detect_outline(head, name)) if sureness < SURE_ENOUGH else ""
    if named != AUTOMATIC:
        own_sureness, own_reason = converters[named].recognises(head, name)
        if own_sureness >= SURE_ENOUGH or (own_sureness >= sureness > 0 and not foreign):
            return ChosenConverter(
                converters[named], f"{source.name} is read as {named}, as the project says: {own_reason}."
            )
        if sureness >= SURE_ENOUGH:
            raise NotATrace(
                "other_format",
                f"{source.name} is {best.name}, since {reason}, but the project reads {named}. Import it as "
                f"{best.name}, or set trace_converter to {best.name} or auto.",
            )
        reads = f"The project reads {named}"
    else:
        reads = f"Potato reads {_formats()}"
    if sureness >= SURE_ENOUGH:
        return ChosenConverter(best, f"{source.name} is {best.name}: {reason}.")
    if foreign:
        raise NotATrace("not_a_trace", f"{source.name} is {foreign}, and no trace. {reads}.")
    perhaps = f" If it is {best.name}, say so at the import: {reason}." if sureness else ""
    raise NotATrace("not_a_trace", f"{source.name} is no trace: {_description(head, name)}. {reads}.{perhaps}")


def _formats() -> str:
    return ", ".join(trace_converters())


def _description(head: bytes, filename: str) -> str:
    outline = detect_outline(head, filename)
    match outline.layout:
        case "empty":
            return "the file is empty"
        case "utf-16":
            return "its text is UTF-16; write it as UTF-8, a diff with git diff --output=FILE"
        case "text":
            if known := next((what for begin, what in _BY_BEGINNING if head.startswith(begin)), ""):
                return known
            return "bytes that are no text" if b"\0" in head else "a text without JSON and without a diff"
    return _description_of_json(outline)


def _description_of_json(outline: Outline) -> str:
    first = next((value for value in outline.values if isinstance(value, dict)), None)
    if first is None:
        return "a JSON list without traces" if isinstance(outline.values[0], list) else "JSON that is no object"
    what = "a JSON object" if outline.layout == "document" or len(outline.values) == 1 else "lines of JSON"
    if not first:
        return f"{what} without keys"
    keys = [key[:40] for key in first]
    more = f" and {len(keys) - _MOST_KEYS_SHOWN} more" if len(keys) > _MOST_KEYS_SHOWN else ""
    return f"{what} with the keys {', '.join(keys[:_MOST_KEYS_SHOWN])}{more}"
