"""Patches sent by mail: the messages of an mbox or of `git format-patch`, their subject, text and diff.

Field notes
- A message begins with "From " and a date, then headers. `git format-patch` writes the commit there, and always the
  date "Mon Sep 17 00:00:00 2001"; a mailbox has an address.
- Subject: "[PATCH v2 3/7] topic", perhaps folded and encoded. The body is the commit's message, then a line "---", the
  list of changed files, the diff, and after "-- " git's version, which is cut off.
- Bodies in quoted-printable or base64, and attachments, are decoded; any other body is taken byte for byte.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email import message_from_bytes, message_from_string
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime

from potato.runs.model import Bounds, RunFile

_LONGEST_BEGINNING = 4_096
_BEGINNING = re.compile(
    rb"^From (?P<sender>\S+) +(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +\d{1,2} [\d:]{5,8} "
    rb"[^\n]{0,20}?\d{4}[^\n]{0,12}\n(?=[A-Za-z-]+:)",
    re.MULTILINE,
)
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
DIFF = re.compile(
    rb"^(?:diff --git |diff --cc |diff --combined |Index: \S|--- [^\r\n]+\r?\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+)",
    re.MULTILINE,
)
_TAG = re.compile(r"^(?:\[[^\]]{0,60}(?:PATCH|RFC)[^\]]{0,60}\]\s*)+")
_PLACE = re.compile(r"(?<![\w/])(\d{1,4})/(\d{1,4})(?=[\s\]])")
_SIGNATURE = re.compile(rb"\r?\n-- \r?\n\d+\.\d[^\r\n]{0,60}[\r\n]*\Z")
_SEPARATOR = re.compile(rb"^---[ \t]*\r?\n", re.MULTILINE)
_CHANGED = re.compile(rb" \d+ files? changed\b")
_MOST_SEPARATORS = 20
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class PatchMail:
    """One message: `identity` is the commit, else the Message-Id, else ""; `diff` is b"" where there is none.

    `series` is what says which series of patches it belongs to, "" for none, `number` and `total` its place there; a
    cover letter has the number 0.
    """

    identity: str
    task: str
    sent_at: str
    diff: bytes
    series: str = ""
    number: int = 0
    total: int = 0


def begins_mail(data: bytes) -> bool:
    """Whether a message of an mbox begins here."""
    return _BEGINNING.match(data) is not None


def read_mails(source: RunFile, bounds: Bounds) -> Iterator[tuple[PatchMail | None, int]]:
    """The messages of an mbox from the source's `begin` on, each with the byte behind it.

    None stands for a message over the bound for documents.
    """
    chunks = source.chunks()
    data, offset = b"", source.begin.offset
    searched = passed = 0
    is_all = False
    while True:
        following = _BEGINNING.search(data, searched or 1)
        if following is None and not is_all:
            # Twice as much at a time, so that a long message is not copied again and again.
            more = list(_at_least(chunks, len(data)))
            is_all = not more
            # Where a beginning may be cut off, it is looked for again.
            searched = max(0, len(data) - _LONGEST_BEGINNING)
            if len(data) > bounds.document_bytes:
                passed += searched
                data, searched = data[searched:], 0
            data = b"".join((data, *more))
            if not offset and not passed:
                bare = data.removeprefix(codecs.BOM_UTF8).lstrip()
                data, offset = bare, len(data) - len(bare)
            continue
        end = following.start() if following else len(data)
        offset += passed + end
        if passed or end > bounds.document_bytes:
            yield None, offset
        elif beginning := _BEGINNING.match(data):
            yield _mail(beginning["sender"].decode("ascii", "replace"), data[beginning.end() : end]), offset
        if following is None:
            return
        data, searched, passed = data[end:], 0, 0


def _at_least(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    read = 0
    while read <= size and (chunk := next(chunks, b"")):
        read += len(chunk)
        yield chunk


def split_at_diff(body: bytes, begin: int = 0) -> tuple[bytes, bytes]:
    """What stands before the first line of a diff from `begin` on, and the diff, without git's signature."""
    match = DIFF.search(body, begin)
    if match is None:
        return body, b""
    diff = body[match.start() :]
    signature = _SIGNATURE.search(diff, max(0, len(diff) - 200))
    if signature is None:
        return body[: match.start()], diff
    return body[: match.start()], diff[: signature.start()] + (b"\r\n" if b"\r" in signature[0][:2] else b"\n")


def _mail(sender: str, data: bytes) -> PatchMail:
    end = _END_OF_HEADERS.search(data)
    headers, body = (data[: end.start()], data[end.end() :]) if end else (data, b"")
    # As text: many mails write UTF-8 into headers without saying so, where a parser of bytes takes ASCII alone.
    message = message_from_string(headers.decode("utf-8", "surrogateescape"))
    encoding = str(message.get("Content-Transfer-Encoding", "")).lower().strip()
    # Only these forms hide the diff. Any other body is taken as its bytes, whose encodings are those of the files.
    if encoding in {"quoted-printable", "base64"} or message.get_content_type().startswith("multipart/"):
        body = _decoded_body(message_from_bytes(data))
    before, diff = split_at_diff(body, _end_of_message(body))
    if not diff and (signature := _SIGNATURE.search(before, max(0, len(before) - 200))):
        before = before[: signature.start()]
    words = re.split(rb"^---[ \t\r]*$", before, maxsplit=1, flags=re.MULTILINE)[0]
    whole_subject = _header(message, "Subject")
    subject = _TAG.sub("", whole_subject)
    series, number, total = _place(whole_subject[: len(whole_subject) - len(subject)])
    task = "\n\n".join(part for part in (subject, _without_inner_headers(words)) if part)
    identity = sender if _COMMIT.fullmatch(sender) and set(sender) != {"0"} else ""
    return PatchMail(
        identity=identity or _header(message, "Message-Id").strip("<> "),
        task=task,
        sent_at=_iso_date(_header(message, "Date")),
        diff=diff,
        series=series,
        number=number,
        total=total,
    )


def _place(tags: str) -> tuple[str, int, int]:
    """Of "[PATCH v2 3/7]" what the series is called, and the place in it; "", 0, 0 where no place is named."""
    match = _PLACE.search(tags)
    if match is None or int(match[1]) > int(match[2]) or int(match[2]) < 2:
        return "", 0, 0
    called = " ".join(f"{tags[: match.start()]}/{match[2]}{tags[match.end() :]}".split())
    return called, int(match[1]), int(match[2])


def _end_of_message(body: bytes) -> int:
    """Where the commit's message ends for certain: behind a line "---" with nothing but the list of changed files
    between it and the diff. A message may itself quote lines of a diff. 0 where no such line is found."""
    for match, _ in zip(_SEPARATOR.finditer(body), range(_MOST_SEPARATORS), strict=False):
        at, is_listed = match.end(), False
        while at < len(body) and body[at : at + 1] in (b" ", b"\r", b"\n"):
            end = body.find(b"\n", at) + 1 or len(body)
            is_listed = is_listed or _CHANGED.match(body, at) is not None
            at = end
        if is_listed and DIFF.match(body, at):
            return at
    return 0


def _decoded_body(message: Message) -> bytes:
    parts = (part.get_payload(decode=True) for part in message.walk() if part.get_content_maintype() == "text")
    return b"\n".join(part for part in parts if isinstance(part, bytes))


def _without_inner_headers(words: bytes) -> str:
    text = words.decode("utf-8", "surrogateescape").replace("\r\n", "\n").strip()
    first, _, rest = text.partition("\n\n")
    if first.startswith(("From: ", "Date: ", "Subject: ")) and all(": " in line for line in first.split("\n")):
        return rest.strip()
    return text


def _header(message: Message, name: str) -> str:
    # As it stands: a header with bytes that are no UTF-8 beside letters that are no ASCII cannot be had as a Header.
    value = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    readable = str(value).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    folded = re.sub(r"\r?\n[ \t]*", " ", readable).strip()
    try:
        return str(make_header(decode_header(folded)))
    except (LookupError, ValueError):
        return folded


def _iso_date(date: str) -> str:
    try:
        parsed: datetime = parsedate_to_datetime(date)
    except (TypeError, ValueError, OverflowError):
        return ""
    return parsed.isoformat()
