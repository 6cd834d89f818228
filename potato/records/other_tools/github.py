"""Reviews of a pull request as GitHub's REST API answers them.

Field notes
- GET /repos/O/R/pulls/N/comments: [{id, pull_request_review_id, path, line, start_line, original_line, side,
  start_side, body, user: {login, type: User|Bot}, created_at, html_url, pull_request_url, in_reply_to_id,
  subject_type: line|file}]. `line` is null where later commits changed the lines: the comment is outdated.
- GET /repos/O/R/pulls/N/reviews: [{id, user, body, state, submitted_at, html_url, pull_request_url}], state APPROVED,
  CHANGES_REQUESTED, COMMENTED, DISMISSED or PENDING. A review that only holds comments is COMMENTED without a body.
- Both may stand in one object under `comments` and `reviews`; `gh api --paginate --slurp` answers lists of lists.
- A suggestion is a fenced block `suggestion` in a comment's body, whose content goes in the place of the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from potato.records.other_tools.model import Found, Place, Reading, Said, Unplaced, as_object

COMMENTS = "code_review_comments"
VERDICT = "code_review_verdict"
DECISIONS = {"APPROVED": "approve", "CHANGES_REQUESTED": "request_changes", "COMMENTED": "comment_only"}
_PULL_REQUEST = re.compile(r"https?://[^/\s]{1,200}/(?:repos/)?([\w.-]+/[\w.-]+)/pulls?/(\d+)")
_BLOCK = re.compile(r"^(?P<fence>`{3,})suggestion[^\n]*\n(?P<lines>.*?)^(?P=fence)`*[ \t]*(?:\n|\Z)", re.M | re.S)
_ALONE = "Suggested change."


class GitHubReviews:
    """Comments and reviews of pull requests."""

    name: ClassVar[str] = "github"
    label: ClassVar[str] = "GitHub review comments and reviews (REST API)"

    @staticmethod
    def recognises(value: Any) -> bool:
        return any(_is_comment(entry) or _is_review(entry) for entry, _ in _entries(value, ""))

    @staticmethod
    def read(places: Sequence[Place], reading: Reading) -> Iterator[Found | Unplaced]:
        entries = [(entry, f"{place.name}{where}") for place in places for entry, where in _entries(place.value, "")]
        # A remark does not take an approval back: it counts where nothing else was decided.
        remarks = [each for each in entries if _is_review(each[0]) and each[0].get("state") == "COMMENTED"]
        others = [each for each in entries if each not in remarks]
        for entry, where in [
            *remarks,
            *sorted(others, key=lambda each: str(as_object(each[0]).get("submitted_at") or "")),
        ]:
            if _is_comment(entry):
                yield _comment(entry, f"{where}, comment {entry.get('id', '')}".rstrip(), reading)
            elif _is_review(entry):
                found = _review(entry, f"{where}, review {entry.get('id', '')}".rstrip(), reading)
                if found is not None:
                    yield found
            else:
                yield Unplaced(where, "It is neither a review comment nor a review of a pull request.")


def split_suggestion(body: str) -> tuple[str, str | None]:
    """A comment's text without its first suggestion block, and what that would put in the place of the lines."""
    block = _BLOCK.search(body)
    if block is None:
        return body.strip(), None
    text = f"{body[: block.start()].rstrip()}\n\n{body[block.end() :].strip()}".strip()
    return text or _ALONE, block["lines"].removesuffix("\n")


def _comment(entry: Mapping[str, Any], where: str, reading: Reading) -> Found | Unplaced:
    trace = reading.trace or _pull_request(entry)
    if not trace:
        return Unplaced(where, "It names no pull request. Say which trace it is about.")
    if entry.get("in_reply_to_id"):
        return Unplaced(where, "It answers another comment; comments on traces have no answers.")
    if entry.get("subject_type") == "file":
        return Unplaced(where, "It is about a whole file; comments on traces are about lines.")
    line = entry.get("line")
    if not isinstance(line, int):
        original = f" It was made on line {entry['original_line']}." if entry.get("original_line") else ""
        return Unplaced(where, f"Later commits changed its lines, so that its place is not known.{original}")
    start, side = entry.get("start_line") or line, entry.get("side") or "RIGHT"
    if (entry.get("start_side") or side) != side:
        return Unplaced(where, "It begins on one side of the change and ends on the other.")
    body = str(entry.get("body") or "")
    text, suggestion = split_suggestion(body) if side == "RIGHT" else (body, None)
    comment = {
        "file": entry.get("path"),
        "line_start": start,
        "line_end": line,
        "side": "new" if side == "RIGHT" else "old",
        "comment": text,
        **({"suggestion": suggestion} if suggestion is not None else {}),
        **({"comment_id": f"github-{entry['id']}"} if isinstance(entry.get("id"), int) else {}),
        **({"created_at": entry["created_at"]} if isinstance(entry.get("created_at"), str) else {}),
    }
    said = Said(comment, annotation_type=COMMENTS, place=where)
    return _found(entry, where, trace, said, str(entry.get("created_at") or ""))


def _review(entry: Mapping[str, Any], where: str, reading: Reading) -> Found | Unplaced | None:
    """None for a review that only holds comments."""
    state, body = entry.get("state"), str(entry.get("body") or "").strip()
    if state == "COMMENTED" and not body:
        return None
    trace = reading.trace or _pull_request(entry)
    if not trace:
        return Unplaced(where, "It names no pull request. Say which trace it is about.")
    if not isinstance(state, str) or state not in DECISIONS:
        return Unplaced(where, f"Its state is {state}, which decides nothing.")
    said = Said(DECISIONS[state], annotation_type=VERDICT, text=body, place=where)
    return _found(entry, where, trace, said, str(entry.get("submitted_at") or ""))


def _found(entry: Mapping[str, Any], where: str, trace: str, said: Said, at: str) -> Found:
    user = as_object(entry.get("user"))
    login = str(user.get("login") or "ghost")
    is_program = user.get("type") == "Bot"
    kind = "automated_reviewer" if is_program else "person_elsewhere"
    return Found(where, trace, login, (said,), str(entry.get("id") or ""), at, kind)  # type: ignore[arg-type]


def _pull_request(entry: Mapping[str, Any]) -> str:
    """As the reader of pull requests names their traces: owner/repository#number."""
    for key in ("pull_request_url", "html_url", "url"):
        if isinstance(entry.get(key), str) and (match := _PULL_REQUEST.match(entry[key])):
            return f"{match[1]}#{match[2]}"
    return ""


def _is_comment(entry: Any) -> bool:
    return isinstance(entry, Mapping) and {"path", "body"} <= entry.keys() and bool({"line", "position"} & entry.keys())


def _is_review(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "state" in entry and bool({"submitted_at", "pull_request_url"} & entry.keys())


def _entries(value: Any, where: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, list):
        for at, entry in enumerate(value, 1):
            if isinstance(entry, list):
                yield from _entries(entry, f"{where}, page {at}")
            else:
                yield from _entries(entry, f"{where}, entry {at}")
    elif isinstance(value, Mapping) and not _is_comment(value) and {"comments", "reviews"} & value.keys():
        for key in ("reviews", "comments"):
            if isinstance(value.get(key), list):
                yield from _entries(value[key], f"{where}, {key}")
    else:
        yield value, where
