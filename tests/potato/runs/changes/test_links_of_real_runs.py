"""Links of real runs, each line compared with a replay of its own: raw edits put into lists of lines, and sed itself.

What a step did is read here from the files' JSON alone. Of a session of Claude Code the text before the run is the one
that its log records; of runs whose change a commit states it is the old side of that commit, so that the replay also
has to end at the commit's lines. The sessions' own repository says which files were touched and how many lines of the
commit are the agent's.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions
from potato.runs.run_files import source_at
from tests.shared_data import shared_file, shared_files

Act = Callable[[str], str]
Acts = dict[str, list[tuple[int | None, Act]]]
"""What each step did to the text of each file, by the file's path, in their order."""


@dataclass
class Tracked:
    """A file as a list of lines, each with the number that it had before the run, or with who wrote it."""

    lines: list[tuple[str, int | None, int | None]]
    """Text, number before the run, writer."""
    base: list[str]
    removed: dict[int, int | None] = field(default_factory=dict)

    def apply(self, step: int | None, act: Act) -> None:
        old = [text for text, _, _ in self.lines]
        new = act("\n".join(old)).split("\n")
        kept = dict(common_lines(old, new))
        stays = set(kept)
        self.removed |= {
            number: step for at, (_, number, _) in enumerate(self.lines) if at not in stays and number is not None
        }
        came_from = {after: before for before, after in kept.items()}
        self.lines = [
            self.lines[came_from[at]] if at in came_from else (text, None, step) for at, text in enumerate(new)
        ]


def common_lines(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Places of a longest common subsequence, by the textbook's table between the first and the last difference."""
    begin = 0
    while begin < min(len(old), len(new)) and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < min(len(old), len(new)) - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    one, other = old[begin : len(old) - end], new[begin : len(new) - end]
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for row in range(len(one) - 1, -1, -1):
        for column in range(len(other) - 1, -1, -1):
            lengths[row][column] = (
                lengths[row + 1][column + 1] + 1
                if one[row] == other[column]
                else max(lengths[row + 1][column], lengths[row][column + 1])
            )
    found = [(at, at) for at in range(begin)]
    row = column = 0
    while row < len(one) and column < len(other):
        if one[row] == other[column]:
            found.append((begin + row, begin + column))
            row, column = row + 1, column + 1
        elif lengths[row + 1][column] >= lengths[row][column + 1]:
            row += 1
        else:
            column += 1
    return found + [(len(old) - at, len(new) - at) for at in range(end, 0, -1)]


def replayed(base: str, acts: list[tuple[int | None, Act]]) -> Tracked:
    lines = base.split("\n")
    tracked = Tracked([(text, number, None) for number, text in enumerate(lines, 1)], lines)
    for step, act in acts:
        tracked.apply(step, act)
    return tracked


def replacing(old: str, new: str) -> Act:
    def act(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return act


def becoming(whole: str | None) -> Act:
    """The text as the trace has it; None where it says nothing of it."""
    return lambda text: text if whole is None else whole


def run_of(path: Path) -> AgentRun:
    (run,) = (each.run for each in read_file(source_at(path), ReadingOptions()) if isinstance(each, Converted))
    return run


def changed_files(run: AgentRun) -> dict[str, FileChange]:
    return {file.path: file for file in derive(run).files if file.operation != "unchanged"}


def compare(where: str, file: FileChange, truth: Tracked) -> tuple[int, int]:
    """How many changed lines have a link and how many have none; the test fails at a link that is wrong."""
    links = {(link.side, number): link.steps[0] for link in file.links for number in range(link.first, link.last + 1)}
    linked = unlinked = 0
    shown = {(line.kind, line.old_no) for hunk in file.hunks for line in hunk.lines if line.kind == "del"}
    # Of equal lines one of which is gone a difference may show either: "}" before or behind the lines that went.
    alike: dict[str, set[int | None]] = {}
    for number, step in truth.removed.items():
        if ("del", number) not in shown:
            alike.setdefault(truth.base[number - 1], set()).add(step)
    for hunk in file.hunks:
        for line in hunk.lines:
            if line.kind == "add":
                assert line.new_no is not None
                link = links.get(("new", line.new_no))
                text, _, expected = truth.lines[line.new_no - 1]
                assert text == line.text, (where, line)
            elif line.kind == "del":
                assert line.old_no is not None
                link = links.get(("old", line.old_no))
                expected = truth.removed.get(line.old_no)
                if line.old_no not in truth.removed and link in alike.get(line.text, ()):
                    expected = link
            else:
                continue
            if link is None:
                unlinked += 1
            else:
                linked += 1
                assert link == expected, (where, file.path, line)
    return linked, unlinked


# Sessions of Claude Code, and what another program made of them


def claude_acts(lines: list[dict[str, Any]]) -> tuple[Acts, dict[str, str]]:
    """The edits of each file by the step that asked for them, and the files' texts before the first of them."""
    steps: dict[str, int] = {}
    asked: dict[str, tuple[int, dict[str, Any]]] = {}
    acts: Acts = {}
    base: dict[str, str] = {}
    for line in lines:
        message = line.get("message")
        if line.get("type") == "assistant":
            step = steps.setdefault(message["id"], len(steps))  # type: ignore[index]
            for block in message["content"]:  # type: ignore[index]
                if block["type"] == "tool_use":
                    asked[block["id"]] = step, block["input"]
        outcome = line.get("toolUseResult")
        if line.get("type") != "user" or not isinstance(outcome, dict) or "filePath" not in outcome:
            continue
        (block,) = message["content"]  # type: ignore[index]
        step, given = asked[block["tool_use_id"]]
        path, original = outcome["filePath"], outcome.get("originalFile", outcome.get("originalFileContents"))
        if "file_path" not in given or "structuredPatch" not in outcome:
            continue
        base.setdefault(path, original or "")
        # What others did in between is nobody's: the text is then the one that the program found.
        acts.setdefault(path, []).append((None, becoming(original)))
        if "content" in given:
            acts[path].append((step, becoming(given["content"])))
        for one in given.get("edits", [given] if "old_string" in given else []):
            acts[path].append((step, replacing(one["old_string"], one["new_string"])))
    return acts, base


def session_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_link_of_a_session_names_the_step_whose_edit_wrote_the_line() -> None:
    linked = unlinked = 0
    for path in shared_files("claude-code/*/session.jsonl"):
        acts, base = claude_acts(session_lines(path))
        for name, file in changed_files(run_of(path)).items():
            (full,) = (each for each in acts if each.endswith(name))
            one, other = compare(path.parent.name, file, replayed(base[full], acts[full]))
            linked, unlinked = linked + one, unlinked + other
    # A person changed one file in between, by 11 lines.
    assert (linked, unlinked) == (299, 11)


def test_every_link_of_a_converted_session_names_the_step_of_its_edit() -> None:
    """The trajectory has the edits alone; its session says what stood in the files before."""
    linked = unlinked = 0
    for path in shared_files("atif/converted-from-claude-code/*.json"):
        session = shared_file(f"claude-code/{path.name.removesuffix('.trajectory.json')}/session.jsonl")
        _, base = claude_acts(session_lines(session))
        steps = [step for step in json.loads(path.read_bytes())["steps"] if step["source"] == "agent"]
        for name, file in changed_files(run_of(path)).items():
            (full,) = (each for each in base if each.endswith(name))
            acts: list[tuple[int | None, Act]] = [
                (at, replacing(call["arguments"]["old_string"], call["arguments"]["new_string"]))
                for at, step in enumerate(steps)
                for call in step.get("tool_calls", [])
                if call["function_name"] == "Edit" and call["arguments"]["file_path"] == full
            ]
            one, other = compare(path.name, file, replayed(base[full], acts))
            linked, unlinked = linked + one, unlinked + other
    assert (linked, unlinked) == (214, 0)


def test_the_change_of_a_session_is_what_its_repository_says_of_the_commit() -> None:
    counted = 0
    for path in shared_files("claude-code/*/session.jsonl"):
        said = json.loads((path.parent / "metadata.json").read_bytes())
        files = changed_files(run_of(path))
        assert set(files) <= set(said["files_touched"]), path
        commit = said.get("initial_attribution")
        # In one session the repository gave the agent no line at all, though it made most edits.
        if commit and commit["agent_lines"]:
            assert sum(file.added for file in files.values()) == commit["agent_lines"] + commit["human_removed"], path
            counted += 1
    assert counted == 5


# Runs whose commit is stated


def sparse_base(patch: str) -> dict[str, str]:
    """The old side of each file of the patch at its line numbers; lines that it does not show have names of no text."""
    texts: dict[str, str] = {}
    for part in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
        (name,) = re.findall(r"^\+\+\+ b/(\S+)", part, re.MULTILINE)
        lines: list[str] = []
        for start, body in re.findall(r"^@@ -(\d+)[^\n]*\n(.*?)(?=^@@|\Z)", part, re.MULTILINE | re.DOTALL):
            lines += [f"line {number} is not shown" for number in range(len(lines) + 1, int(start))]
            lines += [line[1:] for line in body.split("\n")[:-1] if line[:1] in (" ", "-")]
        lines += ["end is not shown", ""]
        texts[name] = "\n".join(lines)
    return texts


def by_sed(script: list[str]) -> Act:
    def act(text: str) -> str:
        return subprocess.run(["sed", *script], input=text, capture_output=True, text=True, check=True).stdout

    return act


def mini_acts(messages: list[dict[str, Any]]) -> Acts:
    """What commands did to files, as far as sed does it by line numbers, or a here-document has the whole file."""
    acts: Acts = {}
    agents = [message["content"] for message in messages if message["role"] == "assistant"]
    for step, words in enumerate(agents):
        commands = re.findall(r"^```\w*bash\w*\n(.*?)\n```", words, re.MULTILINE | re.DOTALL)
        # The program runs none of several.
        for command in commands if len(commands) == 1 else []:
            if match := re.fullmatch(r"""sed -i (['"])(.*)\1 (\S+)""", command, re.DOTALL):
                # Within double quotes the shell takes away what protects a quote.
                script = match[2] if match[1] == "'" else match[2].replace('\\"', '"')
                acts.setdefault(match[3], []).append((step, by_sed([script])))
            elif match := re.fullmatch(r"cat > (\S+) << 'EOF'\n(.*\n)EOF", command, re.DOTALL):
                acts.setdefault(match[1], []).append((step, becoming(match[2])))
    return acts


def mini_runs() -> Iterator[tuple[Path, str, Acts]]:
    for path in shared_files("mini-swe-agent/*.json"):
        document = json.loads(path.read_bytes())
        messages = document["messages"] if isinstance(document, dict) else document
        patch = document["info"]["submission"] if isinstance(document, dict) else messages[-1]["content"]
        yield path, patch, mini_acts(messages)


def window_acts(path: Path) -> tuple[str, Acts]:
    """The edits of lines in SWE-agent's window: of those that are named, or of those between its cursors."""
    document = json.loads(path.read_bytes())
    acts: Acts = {}
    current = ""
    cursors = (0, 0)
    for step, entry in enumerate(document["trajectory"]):
        shown = entry["observation"].replace("\r\n", "\n")
        match = re.match(r"edit(?: (\d+):(\d+))?\n(.*?)\n?end_of_edit", entry["action"], re.DOTALL)
        if match and not shown.startswith("Your proposed edit"):
            first, last = (int(match[1]), int(match[2])) if match[1] else cursors
            acts.setdefault(current, []).append((step, lines_replaced(first, last, match[3].split("\n"))))
        for found in re.findall(r"\[File: (\S+) \(", shown):
            current = found
        if marked := re.search(r"<<<<< START CURSOR >>>>>\n(.*?)<<<<< END CURSOR >>>>>", shown, re.DOTALL):
            numbers = [int(number) for number in re.findall(r"^(\d+):", marked[1], re.MULTILINE)]
            cursors = numbers[0], numbers[-1]
    return document["info"]["submission"].replace("\r\n", "\n"), acts


def lines_replaced(first: int, last: int, new: list[str]) -> Act:
    def act(text: str) -> str:
        lines = text.split("\n")
        return "\n".join([*lines[: first - 1], *new, *lines[last:]])

    return act


def test_every_link_of_a_stated_commit_names_the_step_that_made_its_line() -> None:
    linked = unlinked = 0
    unknown = []
    runs = [*mini_runs(), *((path, *window_acts(path)) for path in shared_files("swe-agent/*.traj"))]
    for path, patch, acts in runs:
        base = sparse_base(patch)
        for name, file in changed_files(run_of(path)).items() if base else ():
            own = [each for known, each in acts.items() if known.endswith(name)]
            truth = replayed(base[name], own[0] if own else [])
            if not reaches(file, truth):
                # Programs wrote the file, whose doings no line of the trace has.
                unknown.append(f"{path.name.partition('.')[0]} {name}")
                assert file.links == (), (path, name)
                continue
            one, other = compare(path.name, file, truth)
            linked, unlinked = linked + one, unlinked + other
    # Without a link are lines of files that the agent changed by a pattern and had not seen whole.
    assert (linked, unlinked) == (47, 9)
    assert unknown == [
        "astropy__astropy-14598 pyproject.toml",
        "matplotlib__matplotlib-24870 lib/matplotlib/contour.py",
        "mwaskom__seaborn-3187 seaborn/_core/plot.py",
        "mwaskom__seaborn-3187 seaborn/_core/scales.py",
        "scikit-learn__scikit-learn-12585 sklearn/tests/test_base.py",
        "sphinx-doc__sphinx-7889 setup.py",
        "sphinx-doc__sphinx-7889 tox.ini",
    ]


def reaches(file: FileChange, truth: Tracked) -> bool:
    """Whether the replay ends at the lines that the commit has."""
    texts = [text for text, _, _ in truth.lines]
    shown = [line for hunk in file.hunks for line in hunk.lines if line.new_no is not None]
    return all(texts[line.new_no - 1 : line.new_no] == [line.text] for line in shown if line.new_no)
