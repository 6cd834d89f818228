"""Puts the file events of a run in order, and marks the files whose content is not known any more."""

from collections.abc import Iterable

from potato.runs.changes.paths import identity
from potato.runs.converters.moments import Moment
from potato.runs.converters.path_index import PathIndex
from potato.runs.converters.shell import command_effects
from potato.runs.converters.tool_files import CallEffects
from potato.runs.model import FileEvent, FileRead, FileTouched

_COMMANDS_NAMED = 3
_LONGEST_COMMAND = 80
_OUTSIDE = "A person or a program beside the agent (an editor, a formatter, a hook)"


def order_file_events(
    call_effects: Iterable[tuple[Moment, CallEffects, int | None]],
) -> tuple[tuple[FileEvent, ...], tuple[int | None, ...], tuple[str, ...]]:
    """File events in the order in which they happened, the step of each, and sentences about the run as a whole.

    After a command that may write without its trace saying what, each file that the run changed before and that the
    command may mean is touched, once until something tells again what it holds.
    """
    events: list[FileEvent] = []
    steps: list[int | None] = []
    seen: dict[str, bool] = {}
    index = PathIndex()
    doubted: set[str] = set()
    # Changed files that are not in doubt, so that a command looks at no file twice.
    certain: dict[str, None] = {}
    commands: list[str] = []
    unnamed = 0

    def add(event: FileEvent, step: int | None) -> None:
        events.append(event)
        steps.append(step)

    def doubt(path: str, by: str, step: int | None) -> None:
        if path not in doubted:
            doubted.add(path)
            certain.pop(path, None)
            add(FileTouched(path, by), step)

    for _, call, step in sorted(call_effects, key=lambda entry: entry[0]):
        for event in call.events:
            if not isinstance(event, FileTouched):
                path = _canonical_path(event.path)
                index.add(path)
                seen[path] = seen.get(path, False) or not isinstance(event, FileRead)
                doubted.discard(path)
                if seen[path]:
                    certain[path] = None
            add(event, step)
            if call.is_left_behind and not isinstance(event, FileRead):
                add(
                    FileTouched(event.path, "Going back in the conversation, which may have taken this act back,"), step
                )
        unnamed += call.unnamed
        for path, is_changed in seen.items() if call.doubts_all else ():
            if is_changed:
                doubt(path, call.doubts_all, step)
        outside = _canonical_path(call.outside) if call.outside else ""
        for path in [known for known in index.ending_as(outside) if seen[known] and _is_same_file(outside, known)]:
            doubt(path, _OUTSIDE, step)
        if not call.command:
            continue
        effects = command_effects(call.command)
        by = f"{call.by} `{_short(call.command)}`"
        is_uncertain = False
        for effect in effects:
            if effect.on == "any":
                touched = [path for path in certain if effect.may_touch(path)]
            else:
                touched = [path for path in index.meant_by(effect) if effect.on == "named" or path in certain]
            is_uncertain |= effect.on != "named" or not (touched or effect.is_written or effect.is_outside())
            for path in touched:
                doubt(path, by, step)
        for path in call.written_targets(effects):
            if not any(_is_same_file(path, known) for known in index.ending_as(path)):
                index.add(path)
                seen[path] = True
                doubted.add(path)
                add(FileTouched(path, by, is_certain=True), step)
        if is_uncertain:
            commands.append(_short(call.command))
    gaps = []
    if commands:
        named = ", ".join(f"`{command}`" for command in list(dict.fromkeys(commands))[:_COMMANDS_NAMED])
        more = len(set(commands)) - _COMMANDS_NAMED
        others = f" and {more} more" if more > 0 else ""
        gaps.append(
            f"Commands ran that may have changed files, and the trace does not record what they did: {named}{others}."
        )
    if unnamed:
        files = "1 more file" if unnamed == 1 else f"{unnamed:,} more files"
        gaps.append(f"Commands changed {files} that the trace does not name.")
    return tuple(events), tuple(steps), tuple(gaps)


def _canonical_path(path: str) -> str:
    """One name for the file, however the run writes its path."""
    return identity(path, "")


def _is_same_file(path: str, known: str) -> bool:
    return bool(path) and (known == path or known.endswith("/" + path.removeprefix("./")) or path.endswith("/" + known))


def _short(command: str) -> str:
    line = " ".join(command.split()).replace("`", "'")
    return line if len(line) <= _LONGEST_COMMAND else line[: _LONGEST_COMMAND - 1] + "…"
