"""The format `pull_request`: a pull request as JSON, with its commits as steps and its changes.

Field notes (GitHub's REST API, pulls and commits; `gh pr view --json`)
- REST, GET /repos/O/R/pulls/N: {number, title, body, html_url, user, state, created_at, base: {sha, ref, repo:
  {full_name}}, head: {sha, ref}, commits: how many}. Its other answers may stand in the same object: commits of
  /pulls/N/commits [{sha, commit: {message, author: {name, date}}}], where an entry of /commits/SHA also has files;
  files of /pulls/N/files [{filename, status: added|removed|modified|renamed|copied|changed|unchanged,
  previous_filename, additions, deletions, patch}], and `diff` or `patch`, the answer as text.
- `patch` of a file has its hunks alone. It is absent of a binary file and of one with too many lines.
- gh pr view --json: {number, title, body, url, baseRefOid, headRefOid, createdAt, commits: [{oid, messageHeadline,
  messageBody, authoredDate, committedDate}], files: [{path, additions, deletions}]}; the diff is what `gh pr diff`
  prints, and is put beside them as `diff`.
- What people wrote (comments, reviews) and what became of it (state, merged, checks) is left out and counted: it is a
  judgement already. Who made it is unknown.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from potato.runs.changes.patch import read_patch
from potato.runs.converters.commits import Commit, commit_steps
from potato.runs.converters.facts import patch_bytes, read_facts
from potato.runs.converters.fields import name, objects, text
from potato.runs.converters.outline import detect_outline
from potato.runs.converters.records import Record, read_records, resumable
from potato.runs.model import JSON, ConversionReport, Converted, ReadingOptions, RunFile, Unreadable

_DIFFS = ("diff", "patch")
_READ = frozenset(
    {
        *_DIFFS, "number", "title", "body", "url", "html_url", "commits", "files", "base", "head", "created_at",
        "createdAt", "id", "task_id", "agent_model", "model", "instance_id", "repo", "tags", "repository",
    }
)  # fmt: skip
_ADDRESS = re.compile(r"https?://[^/\s]{1,200}/(?:repos/)?([\w.-]+/[\w.-]+)/pulls?/\d+")
_STATUSES = frozenset({"added", "removed", "modified", "renamed", "copied", "changed", "unchanged"})
_PLAIN_PATH = re.compile(r'[^\x00-\x1f"\\\x7f]+')


class PullRequests:
    """Pull requests as JSON."""

    name = "pull_request"
    label = "Pull request as JSON, with its commits"

    def recognises(self, head: bytes, filename: str) -> tuple[float, str]:
        for record in detect_outline(head, filename).records():
            if not isinstance(record, dict) or not {"number", "title"} <= record.keys():
                continue
            if {"commits", "files", "diff", "patch"} & record.keys() and (
                {"base", "head", "html_url", "url", "baseRefOid", "headRefOid", "baseRefName"} & record.keys()
            ):
                return 0.95, "it has number, title, and commits, files or the diff of a pull request"
            if "diff_url" in record or "baseRefOid" in record:
                return 0.8, "it has number, title and diff_url or baseRefOid, as pull requests have"
        return 0.0, "no record has number, title and commits of a pull request"

    def read(self, lines: RunFile, options: ReadingOptions) -> Iterator[Converted | Unreadable]:
        for record in read_records(lines, options.bounds):
            yield record if isinstance(record, Unreadable) else resumable(_converted(record, options), record.after)


def _converted(record: Record, options: ReadingOptions) -> Converted | Unreadable:
    report = ConversionReport()
    report.repairs.update(record.repairs)
    value = record.value
    number = name(value, "number")
    if not number or not isinstance(value.get("title"), str):
        sentence = f"Record {record.place} is no pull request: it has no number and title."
        return Unreadable(record.place, "wrong_shape", sentence)
    for key in value.keys() - _READ - {options.id_key, options.text_key}:
        report.dropped[f"member {key}"[:100]] += 1
    facts = read_facts({key: member for key, member in value.items() if key not in ("patch", "id", "repo")}, options)
    gaps: list[str] = []
    commits = [_commit(commit, report) for commit in objects(value.get("commits"))]
    read = commit_steps(commits)
    patch = next((patch_bytes(value[key]) for key in _DIFFS if text(value, key).strip()), None)
    if patch is None and objects(value.get("files")):
        patch = diff_of_files(objects(value["files"]), report, gaps)
    if not patch:
        patch = read.patch or None
    if patch is None or not read_patch(patch).files:
        sentence = (
            f"Pull request {number} has no diff: no `patch` in its files or its commits' files, and no `diff`. Put "
            f"what `gh pr diff {number}` prints into it as the text `diff`."
        )
        return Unreadable(record.place, "no_diff", sentence)
    if isinstance(value.get("commits"), int) and value["commits"] > len(commits):
        gaps.append(f"The file has {len(commits)} of the {value['commits']} commits of this pull request.")
    address = _ADDRESS.match(text(value, "html_url") or text(value, "url"))
    repo = _repository(value) or (address[1] if address else "")
    title, body = text(value, "title"), text(value, "body")
    run = replace(
        facts.run(),
        external_id=f"{repo}#{number}" if repo else f"#{number}",
        task=facts.task or "\n\n".join(part.strip() for part in (title, body) if part.strip()),
        repo=repo,
        steps=read.steps,
        events=read.events,
        event_steps=read.event_steps,
        patch=patch,
        started_at=text(value, "created_at", "createdAt"),
        gaps=tuple(gaps),
    )
    return Converted(run, report, record.place)


def _member(value: JSON, *keys: str) -> JSON:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _repository(value: dict[str, JSON]) -> str:
    named = text(_member(value, "base", "repo"), "full_name") or text(
        value.get("repository"), "nameWithOwner", "full_name"
    )
    repo = text(value, "repo")
    return named or (repo if repo.count("/") == 1 else "")


def _commit(value: dict[str, JSON], report: ConversionReport) -> Commit:
    """A commit of the REST API, or of gh."""
    inner = value.get("commit")
    words = text(inner, "message") or "\n\n".join(
        part for part in (text(value, "messageHeadline"), text(value, "messageBody")) if part
    )
    at = text(_member(inner, "author"), "date") or text(value, "authoredDate", "committedDate")
    diff = diff_of_files(objects(value.get("files")), report, [])
    return Commit(text(value, "sha", "oid"), words.strip(), at, diff)


def diff_of_files(files: list[dict[str, JSON]], report: ConversionReport, gaps: list[str]) -> bytes:
    """The unified diff of what the API says of files. One without hunks is counted, and named as a gap."""
    parts: list[str] = []
    without: list[str] = []
    for file in files:
        path = text(file, "filename", "path")
        status = text(file, "status").lower()
        if not path or (status and status not in _STATUSES):
            report.unknown["file of a status that is not known" if path else "file without a name"] += 1
            continue
        old_path = text(file, "previous_filename") or path
        hunks = text(file, "patch")
        has_moved = status == "renamed" and old_path != path
        if not hunks and not has_moved and not (status in ("added", "removed") and not _changed_lines(file)):
            report.dropped["file without its lines"] += 1
            without.append(path)
            continue
        parts.append(_section(path, old_path, status, hunks))
    if without:
        named = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
        gaps.append(f"The pull request changes files of which it does not say the lines: {named}.")
    return "".join(parts).encode("utf-8", "surrogatepass")


def _changed_lines(file: dict[str, JSON]) -> int:
    return sum(count for key in ("additions", "deletions") if isinstance(count := file.get(key), int))


def _section(path: str, old_path: str, status: str, hunks: str) -> str:
    old, new = _quoted(f"a/{old_path}"), _quoted(f"b/{path}")
    lines = [f"diff --git {old} {new}"]
    match status:
        case "added":
            lines.append("new file mode 100644")
        case "removed":
            lines.append("deleted file mode 100644")
        case "renamed" if old_path != path:
            lines += [f"rename from {_quoted(old_path)}", f"rename to {_quoted(path)}"]
        case "copied" if old_path != path:
            lines += [f"copy from {_quoted(old_path)}", f"copy to {_quoted(path)}"]
    if hunks:
        lines.append(f"--- {'/dev/null' if status == 'added' else old}")
        lines.append(f"+++ {'/dev/null' if status == 'removed' else new}")
        lines.append(hunks.removesuffix("\n"))
    return "\n".join(lines) + "\n"


def _quoted(path: str) -> str:
    """The path as git writes it into a diff."""
    if _PLAIN_PATH.fullmatch(path):
        return path
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return (
        '"'
        + "".join(known.get(mark, mark if mark >= " " and mark != "\x7f" else f"\\{ord(mark):03o}") for mark in path)
        + '"'
    )
