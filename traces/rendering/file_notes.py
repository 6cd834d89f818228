"""What is to be said about a changed file before its lines: kind, mode, line ends, and how far it can be trusted."""

from collections.abc import Iterator

from potato.runs.changes.model import SUBMODULE_MODE, SYMLINK_MODE, BadgeCode, FileChange
from traces.rendering.escaping import escaped
from traces.rendering.icons import icon

_MODES = {
    "100644": "an ordinary file",
    "100755": "executable",
    SYMLINK_MODE: "a symbolic link",
    SUBMODULE_MODE: "a submodule",
}


def notes(
    change: FileChange,
    is_whole: bool,
    *,
    has_lines: bool = True,
    only_whitespace: bool = False,
    remark: str = "",
) -> str:
    """The notes as a list, or nothing. `is_whole`: the lines around the changes are known. `has_lines`: a line of the
    file can be shown. `only_whitespace`: no line is shown as changed, because none differs in more than white space.
    `remark` is a sentence that somebody else has of the file."""
    items = [*(_item(text, "info") for text in _facts(change, is_whole)), *_badges(change)]
    if not has_lines:
        items.append(_item(f"No line can be commented on: {_why_no_lines(change)}.", "info", " data-no-lines"))
    if remark:
        items.insert(0, _item(escaped(remark), "info", " data-remark"))
    if only_whitespace:
        items.insert(0, _item("Only white space differs in this file.", "info"))
    return f'<ul class="diff__notes">{"".join(items)}</ul>' if items else ""


def _why_no_lines(change: FileChange) -> str:
    if change.is_binary:
        return "its content is not text"
    if change.new_text == "" or (change.new_text is None and change.old_text == ""):
        return "the file is empty"
    return "the trace has none of its text"


def _facts(change: FileChange, is_whole: bool) -> Iterator[str]:
    old, new = _path(change.old_path), _path(change.path)
    pure = " without changes" if not change.hunks and not change.is_binary else ""
    if change.operation == "renamed":
        yield f"Renamed from {old} to {new}{pure}."
    elif change.operation == "copied":
        yield f"Copied from {old} to {new}{pure}."
    elif change.operation == "unchanged":
        yield "The agent read this file and did not change it."
        if change.excerpts:
            yield "The trace has only the lines that the agent read."
        elif not is_whole:
            yield "The trace does not have its text."
    yield from _mode(change)
    if change.is_binary:
        yield "Binary file: its content is not shown."
    elif change.is_symlink:
        yield "Symbolic link: its one line is the path that it points to."
    elif change.is_submodule:
        yield "Submodule: its one line is the commit that it points to."
    elif not change.hunks and change.operation in ("added", "deleted"):
        yield "The file is empty."
    elif not change.hunks and change.operation == "modified" and change.old_mode == change.new_mode:
        yield from () if _is_in_doubt(change) else ("Nothing in this file differs.",)
    yield from _ends(change)
    if change.hunks and not change.has_line_numbers:
        is_in_parts = any(badge.code == BadgeCode.CHANGED_IN_PARTS for badge in change.badges)
        place = "" if is_in_parts else "The trace does not say where in the file these lines stand. "
        yield (
            f"{place}{'Lines' if is_in_parts else 'They'} are numbered as they are shown here, and a comment says that "
            "its numbers are those of the excerpt."
        )
    elif change.excerpts and change.hunks:
        yield "The trace has only the lines that the agent read or changed, so no more of this file can be shown."
    elif change.hunks and not is_whole and change.operation in ("modified", "renamed", "copied"):
        yield "The trace has only the lines of the patch, so no more of this file can be shown around them."


def _is_in_doubt(change: FileChange) -> bool:
    return any(badge.code == BadgeCode.CHANGE_NOT_RECORDED for badge in change.badges)


def _mode(change: FileChange) -> Iterator[str]:
    old, new = change.old_mode, change.new_mode
    if old and new and old != new:
        yield f"Mode changed from {_mode_name(old)} to {_mode_name(new)}."
    elif change.operation == "added" and new == "100755":
        yield f"Mode {_mode_name(new)}."


def _mode_name(mode: str) -> str:
    known = _MODES.get(mode)
    return f"{escaped(mode)} ({known})" if known else escaped(mode)


def _ends(change: FileChange) -> Iterator[str]:
    lines = [line for hunk in change.hunks for line in hunk.lines if line.ends != "none"]
    removed = {line.ends for line in lines if line.kind == "del"}
    added = {line.ends for line in lines if line.kind == "add"}
    both = {line.ends for line in lines}
    if removed == {"lf"} and added == {"crlf"}:
        yield '<b class="ends">Line ends change</b> from LF to CR LF.'
    elif removed == {"crlf"} and added == {"lf"}:
        yield '<b class="ends">Line ends change</b> from CR LF to LF.'
    elif both == {"lf", "crlf"}:
        yield '<b class="ends">Line ends are mixed:</b> those of CR LF are marked, all others are LF.'
    elif both == {"crlf"}:
        yield '<b class="ends">Line ends are CR LF.</b>'


def _badges(change: FileChange) -> Iterator[str]:
    for badge in change.badges:
        yield _item(escaped(badge.sentence), "triangle-alert", f' data-badge="{badge.code.value}"')


def _item(html: str, name: str, place: str = "") -> str:
    return f"<li{place}>{icon(name)}<span>{html}</span></li>"


def _path(path: str) -> str:
    return f'<code class="inline">{escaped(path)}</code>'
