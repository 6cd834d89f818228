"""Edits by the functions for files of OpenHands' first versions, beside an imitation that keeps the files itself."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from potato.runs.changes.derive import derive
from potato.runs.changes.model import FileChange
from potato.runs.model import AgentRun, FileTouched
from tests.potato.runs.converters.test_openhands import TASK, v0_action, v0_observation
from tests.potato.runs.reading import jsonl, the_one

CART = "/workspace/cart.py"


@dataclass
class Agent:
    """Calls the functions, each in a step of its own, and keeps each line of its files with the step that wrote it."""

    files: dict[str, list[tuple[str, int | None]]] = field(default_factory=dict)
    events: list[Any] = field(default_factory=lambda: [TASK])
    around: int = 100
    step: int = -1

    def put(self, text: str, path: str = CART) -> None:
        """The file is there before the run."""
        self.files[path] = [(line, None) for line in text.splitlines()]

    def text(self, path: str = CART) -> str:
        return "".join(f"{line}\n" for line, _ in self.files[path])

    def writers(self, path: str = CART) -> dict[int, int | None]:
        return {number: step for number, (_, step) in enumerate(self.files[path], 1)}

    def window(self, at: int, path: str = CART, after: str = "") -> str:
        lines = self.files[path]
        first, last = max(1, at - self.around), min(len(lines), at + self.around)
        above = f"({first - 1} more lines above)" if first > 1 else "(this is the beginning of the file)"
        below = f"({len(lines) - last} more lines below)" if last < len(lines) else "(this is the end of the file)"
        shown = "".join(f"{number}|{lines[number - 1][0]}\n" for number in range(first, last + 1))
        return f"[File: {path} ({len(lines)} lines total{after})]\n{above}\n{shown}{below}\n"

    def run(self, code: str, answer: str, action: str = "run_ipython", **arguments: Any) -> None:
        self.step += 1
        number = len(self.events)
        given = {"code": code} if action == "run_ipython" else arguments
        self.events.append(v0_action(number, action, thought="I go on.", **given))
        self.events.append(v0_observation(number + 1, number, action, answer))

    def open(self, path: str = CART, at: int = 1) -> None:
        self.run(f"open_file({path!r}, {at})", self.window(at, path))

    def create(self, path: str) -> None:
        self.files[path] = [("", self.step + 1)]
        self.run(f"create_file({path!r})", f"{self.window(1, path)}[File {path} created.]")

    def edited(self, code: str, at: int, path: str = CART) -> None:
        self.run(code, f"{self.window(at, path, ' after edit')}[File updated (edited at line {at}). Please review.]\n")

    def written(self, content: str) -> list[tuple[str, int | None]]:
        return [(line, self.step + 1) for line in content.removesuffix("\n").split("\n")]

    def replace(self, old: str, new: str, path: str = CART) -> None:
        at = self.text(path).index(old)
        first = self.text(path)[:at].count("\n") + 1
        self.files[path][first - 1 : first - 1 + len(old.splitlines())] = self.written(new)
        self.edited(f"edit_file_by_replace({path!r}, to_replace={old!r}, new_content={new!r})", first, path)

    def insert(self, line: int, content: str, path: str = CART) -> None:
        lines = self.files[path]
        if [text for text, _ in lines] == [""]:
            lines.clear()
        lines[line - 1 : line - 1] = self.written(content)
        self.edited(f"insert_content_at_line({path!r}, {line}, content={content!r})", line, path)

    def append(self, content: str, path: str = CART) -> None:
        lines = self.files[path]
        before = len(lines)
        if [text for text, _ in lines] == [""]:
            lines.clear()
        lines += self.written(content)
        self.edited(f"append_file({path!r}, {content!r})", before, path)

    def result(self) -> AgentRun:
        return the_one(jsonl(*self.events)).run


def changed(run: AgentRun) -> dict[str, FileChange]:
    return {file.path: file for file in derive(run).files if file.operation != "unchanged"}


def written_by(change: FileChange) -> dict[int, int]:
    """The step that wrote each line that was added, by its number in the new file."""
    links = [link for link in change.links if link.side == "new"]
    return {number: link.steps[0] for link in links for number in range(link.first, link.last + 1)}


def test_a_file_that_was_opened_is_followed_from_edit_to_edit() -> None:
    agent = Agent()
    agent.put("def total(prices):\n    return sum(prices)\n\n\ndef rounded(price):\n    return price\n")
    agent.open()
    # Whole lines are replaced: what stands before and behind the text goes too.
    agent.replace("sum(prices)", "    return sum(map(rounded, prices))")
    agent.insert(5, "@cached\n")
    agent.append("\n\nprint(total([]))")
    agent.replace("    return price\n", "    return round(price, 2)\n")
    (change,) = changed(agent.result()).values()
    assert (change.path, change.new_text, change.badges) == ("cart.py", agent.text(), ())
    assert written_by(change) == {2: 1, 5: 2, 7: 4, 8: 3, 9: 3, 10: 3}


def test_a_new_file_is_filled_and_its_empty_line_goes() -> None:
    agent = Agent()
    agent.create("/workspace/first.py")
    agent.insert(1, "import cart\n", "/workspace/first.py")
    agent.create("/workspace/second.py")
    agent.append("import first\nfirst.cart", "/workspace/second.py")
    changes = changed(agent.result())
    assert {path: (change.operation, change.new_text) for path, change in changes.items()} == {
        "first.py": ("added", "import cart\n"),
        "second.py": ("added", "import first\nfirst.cart\n"),
    }
    assert written_by(changes["second.py"]) == {1: 3, 2: 3}


def test_several_calls_of_one_step_are_followed_one_by_one() -> None:
    agent = Agent()
    agent.create("/workspace/a.py")
    whole = Agent(files={"/workspace/a.py": [("one", 1)]}, step=0)
    shown = whole.window(1, "/workspace/a.py", " after edit") + "[File updated (edited at line 1).]\n"
    whole.files["/workspace/a.py"].append(("two", 1))
    shown += whole.window(1, "/workspace/a.py", " after edit") + "[File updated (edited at line 1).]\n"
    agent.run(
        "append_file('/workspace/a.py', content='one')\n# and\nappend_file('/workspace/a.py', content='two')", shown
    )
    (change,) = changed(agent.result()).values()
    assert (change.new_text, written_by(change)) == ("one\ntwo\n", {1: 1, 2: 1})


@pytest.mark.parametrize(
    "answer",
    [
        "[Your proposed edit has introduced new syntax error(s). Please understand the errors and retry.]\n"
        "[This is how your edit would have looked if applied]\n1|x = \n",
        f"[No exact match found in {CART} for\n```\nx = 3\n```\n]",
        "---------------\nValueError                 Traceback (most recent call last)",
    ],
)
def test_an_edit_that_was_not_made_changes_nothing_and_what_is_known_stays(answer: str) -> None:
    agent = Agent()
    agent.put("x = 1\ny = 2\n")
    agent.open()
    agent.run(f"edit_file_by_replace({CART!r}, to_replace='x = 3', new_content='x = ')", answer)
    agent.replace("y = 2", "y = 3")
    (change,) = changed(agent.result()).values()
    assert (change.new_text, change.badges, written_by(change)) == ("x = 1\ny = 3\n", (), {2: 2})


def test_where_the_window_says_otherwise_the_file_was_changed_in_a_way_that_is_not_told() -> None:
    agent = Agent()
    agent.put("x = 1\ny = 2\n")
    agent.open()
    agent.files[CART] = [("x = 9", None), ("y = 3", None)]
    agent.edited(f"edit_file_by_replace({CART!r}, to_replace='y = 2', new_content='y = 3')", 2)
    run = agent.result()
    assert FileTouched(CART, "A function of the program", is_certain=True) in run.events
    assert not [change for change in changed(run).values() if change.links]


@pytest.mark.parametrize(
    "code",
    [
        f"append_file({CART!r}, content=text)",
        f"for name in ['a']:\n    append_file({CART!r}, content=name)",
        f"append_file({CART!r}, content='a'); open('b', 'w')",
    ],
)
def test_of_code_that_is_more_than_such_calls_the_files_alone_are_told(code: str) -> None:
    agent = Agent()
    agent.put("x = 1\n")
    agent.open()
    agent.files[CART].append(("a", None))
    agent.edited(code, 2)
    assert FileTouched(CART, "A function of the program", is_certain=True) in agent.result().events


def test_a_command_that_names_the_file_makes_what_was_shown_of_it_uncertain() -> None:
    agent = Agent(around=2)
    agent.put("".join(f"line {number}\n" for number in range(1, 40)))
    agent.open(at=20)
    agent.run("", "", "run", command="sed -i 1d cart.py")
    agent.files[CART] = agent.files[CART][1:]
    agent.edited(f"edit_file_by_replace({CART!r}, to_replace='line 20', new_content='line 20')", 19)
    assert FileTouched(CART, "A function of the program", is_certain=True) in agent.result().events


def test_an_edit_of_a_file_that_was_not_seen_whole_stands_at_its_line() -> None:
    agent = Agent(around=3)
    agent.put("".join(f"line {number}\n" for number in range(1, 400)))
    agent.open(at=200)
    agent.replace("line 201", "new\nnewer")
    (change,) = changed(agent.result()).values()
    assert change.has_line_numbers
    assert written_by(change) == {201: 1, 202: 1}


@pytest.mark.parametrize("seed", range(40))
def test_random_edits_give_the_files_and_the_writers_of_each_line(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (not for secrets)
    agent = Agent()
    agent.put("".join(f"line {number}\n" for number in range(1, draw.randint(2, 9))))
    before = agent.text()
    agent.open()
    agent.around = draw.choice((1, 100))
    for number in range(draw.randint(1, 12)):
        lines = agent.text().splitlines()
        at = draw.randint(1, len(lines))
        # Each line is another one: of two that are equal, the replay keeps the older.
        new = "\n".join(f"new {number}, {part}" for part in range(draw.randint(1, 3)))
        match draw.choice(("replace", "insert", "append")):
            case "replace":
                old = "\n".join(lines[at - 1 : at + draw.randint(0, 1)])
                agent.replace(old, new)
            case "insert":
                agent.insert(at, new)
            case "append":
                agent.append(new)
    run = agent.result()
    change = changed(run).get("cart.py")
    assert agent.text() == (before if change is None else change.new_text)
    if change is not None:
        assert change.badges == ()
        writers = agent.writers()
        wrong = {number: step for number, step in written_by(change).items() if step != writers[number]}
        assert not wrong, wrong
