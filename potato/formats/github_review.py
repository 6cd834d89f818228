"""`github_review`: each annotation as the request that posts it as a review of a pull request on GitHub."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from potato.formats.options import RowOptions
from potato.formats.registry import Format
from potato.formats.review_comments import TYPE, ReviewComment, commented_paths, comments_in
from potato.formats.training import readable
from potato.records.sources import Record, TraceFacts, json_text, scheme_annotation

VERDICT = "code_review_verdict"
EVENTS = {"approve": "APPROVE", "request_changes": "REQUEST_CHANGES", "comment_only": "COMMENT"}
_BACKTICKS = re.compile(r"`+")
# What may open a block that goes on to the end of the text: a fence, or HTML.
_OPENS_BLOCK = re.compile(r"```|~~~|<")
_SHORTEST_FENCE = 3


class GithubReview(Format):
    """`review` is the body of `POST /repos/{owner}/{repo}/pulls/{number}/reviews`; `id`, `annotator` and `timestamp`
    beside it tell whose it is. approve is the event APPROVE, request_changes REQUEST_CHANGES, and every other verdict,
    or none, COMMENT; a verdict that GitHub does not know stands in the body by its name. `side` is RIGHT for new lines
    and LEFT for old ones, `start_line` stands for comments on several lines.

    A suggestion on new lines is a suggestion block, which the author takes over with a click; its fence is longer than
    every fence inside. On old lines GitHub takes none, so there it is plain code. GitHub refuses a whole review for one
    comment outside the diff: comments that no single hunk of the trace's changes holds stand in the review's body, with
    their file and lines, and are counted as `comments_in_body`. General comments, on the change and on files as a
    whole, stand in the body too (`general_comments`): the comments of a review must name lines, and GitHub's comments
    with `subject_type` are requests of their own, which need the commit.

    Not in the file: the pull request and its commit, which a trace does not know (GitHub takes the newest commit),
    ratings of files, for which reviews have no place, and annotations with neither a verdict nor a comment, which are
    counted. What JSON can say and GitHub cannot, NUL and lone surrogates, becomes U+FFFD."""

    name = "github_review"
    label = "Reviews to post on GitHub, one request a line"
    suffix = ".jsonl"
    media_type = "application/jsonl"
    options = RowOptions
    needs = frozenset({"files"})
    needs_traces = True
    annotation_types = frozenset({TYPE, VERDICT})

    def paths(self, record: Record) -> Collection[str]:
        return commented_paths(record, self.project)

    def write(self, record: Record, facts: TraceFacts) -> bytes:
        verdict = (
            scheme_annotation(record, self.project.scheme(record, VERDICT), dict, "an object with a decision") or {}
        )
        decision, summary = verdict.get("decision"), verdict.get("summary")
        comments = list(comments_in(record, self.project, facts))
        if not isinstance(decision, str) and not comments:
            return self.leave_out("without_review")
        in_diff = [comment for comment in comments if _is_in_diff(comment)]
        others = [comment for comment in comments if not _is_in_diff(comment)]
        self.count("general_comments", sum(comment.is_general for comment in others))
        self.count("comments", len(in_diff))
        self.count("comments_in_body", sum(not comment.is_general for comment in others))
        self.count("suggestions", sum(map(_is_suggested, comments)))
        event = EVENTS.get(decision, "COMMENT") if isinstance(decision, str) else "COMMENT"
        body = "\n\n".join(_body(decision, summary, others, len(comments)))
        row = {
            "id": record.id,
            **({"trace_version": record.trace_version} if record.trace_version > 1 else {}),
            "annotator": record.annotator,
            "timestamp": record.timestamp,
            "review": {
                **({"body": _sendable(body)} if body else {}),
                "event": event,
                "comments": [_comment(comment) for comment in in_diff],
            },
        }
        self.state["rows"] += 1
        return f"{json_text(row)}\n".encode("ascii")

    def remarks(self) -> list[str]:
        if many := self.counts.get("comments_in_body", 0):
            return [f"Comments that stand in the body of their review, because no hunk holds their lines: {many:,}."]
        return []

    def nothing(self) -> str:
        return "The export selects nothing: no annotation has a verdict or a comment. Nothing was written."


def suggestion_block(suggestion: str) -> str:
    """The block that GitHub offers to commit; "" says that the lines go."""
    fence = _fence(suggestion)
    lines = f"{suggestion.removesuffix(chr(10))}\n" if suggestion else ""
    return f"{fence}suggestion\n{lines}{fence}"


def _is_in_diff(comment: ReviewComment) -> bool:
    """Whether GitHub can find the lines, in a file whose name can be sent."""
    return comment.hunk is not None and _sendable(comment.path) == comment.path


def _is_suggested(comment: ReviewComment) -> bool:
    return comment.suggestion is not None and comment.side == "new" and _is_in_diff(comment)


def _fence(text: str) -> str:
    return "`" * max([_SHORTEST_FENCE, *(len(run) + 1 for run in _BACKTICKS.findall(text))])


def _body(decision: Any, summary: Any, others: list[ReviewComment], comments: int) -> Iterator[str]:
    """The paragraphs of a review's body; a review that is no approval must have one."""
    if isinstance(decision, str) and decision not in EVENTS:
        yield f"Verdict: {decision}"
    if isinstance(summary, str) and summary.strip():
        yield summary
    elif decision != "approve" and (decision in EVENTS or decision is None):
        yield "Changes are requested." if decision == "request_changes" else f"Comments: {comments}."
    for comment in sorted(others, key=lambda comment: not comment.is_of_change):
        if not comment.is_of_change:
            yield f"{comment.where}:"
        yield _comment_text(comment)


def _comment(comment: ReviewComment) -> dict[str, Any]:
    start, end = comment.lines or (0, 0)
    side = "RIGHT" if comment.side == "new" else "LEFT"
    return {
        "path": comment.path,
        "body": _sendable(_comment_text(comment)),
        **({"start_line": start, "start_side": side} if start != end else {}),
        "line": end,
        "side": side,
    }


def _comment_text(comment: ReviewComment) -> str:
    """The comment's text, with its category and severity, and its suggestion."""
    kinds = ", ".join(filter(None, (comment.text("category"), comment.text("severity"))))
    text = f"**{kinds}**: {comment.text('comment')}" if kinds else comment.text("comment")
    if comment.suggestion is None:
        return text
    if _is_suggested(comment):
        block = suggestion_block(comment.suggestion)
    else:
        fence = _fence(comment.suggestion)
        block = f"Suggested instead:\n\n{fence}\n{comment.suggestion.removesuffix(chr(10))}\n{fence}"
    # A block that the text opens and does not close would swallow what follows it.
    return f"{block}\n\n{text}" if _OPENS_BLOCK.search(text) else f"{text}\n\n{block}"


def _sendable(text: str) -> str:
    return readable(text).replace("\0", "\ufffd")
