"""Finds the runs of tests in an agent's run: which commands ran tests, and what came of them as their output says it.

Nothing is guessed: a command counts by its words, its outcome by the summary that the runner printed. Where there is
none, the exit code counts, if the tests were the last thing that the command did. A command whose outcome nothing tells
is listed without one.

Field notes
- Exit codes: Claude Code "Exit code 1" first, mini-swe-agent <returncode>1</returncode>, OpenHands "[Command finished
  with exit code 1]" or "exit code 1.", Codex "Process exited with code 1" or "Exit code: 1" first, or JSON with
  exit_code, Gemini CLI "Exit Code: 1".
- Outputs are cut in the middle by most agents; summaries stand at the end. `| head` cuts them off.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import basename
from typing import Any

from potato.checks.model import NO_TESTS, Counts, Outcome, short
from potato.runs.converters.fields import word_set
from potato.runs.converters.shell import simple_commands
from potato.runs.model import AgentRun, Step, ToolCall

_TAIL = 20_000
_LONGEST_COMMAND = 300
_LONGEST_LINE = 20_000
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_EXIT_CODES = (
    re.compile(r"\AExit code:? (-?\d{1,5})\b"),
    re.compile(r"<returncode>(-?\d{1,5})</returncode>"),
    re.compile(r"(?:Process exited|finished|completed) with (?:exit )?code:? (-?\d{1,5})\b"),
    re.compile(r'"exit_code"\s*:\s*(-?\d{1,5})\b'),
    re.compile(r"^Exit [Cc]ode: (-?\d{1,5})\b", re.MULTILINE),
)

_ALWAYS = word_set(
    "pytest py.test tox nox nosetests nose2 jest vitest mocha ava jasmine rspec phpunit pest ctest bats prove "
    "busted tape runtests.py stestr trial"
)
_SUBCOMMAND = {
    "go": ("test",), "cargo": ("test", "nextest", "t"), "dotnet": ("test",), "swift": ("test",), "mix": ("test",),
    "rails": ("test", "spec"), "deno": ("test",), "zig": ("test",), "hatch": ("test",), "dart": ("test",),
    "flutter": ("test",), "sbt": ("test",), "lein": ("test",), "stack": ("test",), "cabal": ("test",),
    "bazel": ("test",),
    "mvn": ("test", "verify"), "./mvnw": ("test", "verify"), "gradle": ("test", "check"),
    "./gradlew": ("test", "check"),
}  # fmt: skip
_TASKS = word_set("npm yarn pnpm bun make gmake just mise task rake nx turbo composer invoke inv")
_TASK = re.compile(
    r"(?:[\w@./]+[:_-])?(?:unit|integration|e2e|ci|smoke)?[-:_]?(?:tests?|spec|check)(?:[-:_.]\S*)?", re.I
)
_LAUNCHERS = {"uv", "poetry", "pipenv", "bundle", "dotenv", "rye", "pdm", "hatch", "conda"}
_DIRECT = {"npx", "bunx", "pnpx", "uvx", "xvfb-run", "coverage"}
_PYTHONS = re.compile(r"python(?:\d(?:\.\d+)?)?|pypy3?|ipython")
_MODULES = word_set("pytest unittest nose nose2 tox nox django.test twisted.trial testtools.run")
_SCRIPTS = re.compile(r"(?:.*/)?(?:runtests?|run_tests?|bin/test|test_runner)(?:\.py)?")


@dataclass(frozen=True, slots=True)
class TestRun:
    """A command of a step that ran tests. `exit_code` is the whole command's, None where the trace does not have it;
    `outcome` is "" where nothing tells it."""

    # What pytest collects is named so; this is none.
    __test__ = False

    step: int
    runner: str
    command: str
    exit_code: int | None
    outcome: Outcome
    counts: Counts = NO_TESTS


def test_runs(run: AgentRun) -> list[TestRun]:
    """The runs of tests in their order, those of sub-agents at the step that started them."""
    return [seen for index, step in enumerate(run.steps) for call in _calls(step) if (seen := _test_run(index, call))]


# Nor is this a test.
test_runs.__test__ = False  # type: ignore[attr-defined]


def last_outcome(runs: Sequence[TestRun]) -> Outcome:
    """What the last run of tests said of which something is told."""
    return next((run.outcome for run in reversed(runs) if run.outcome), "")


def run_record(run: TestRun) -> dict[str, Any]:
    """The run of tests as JSON; what is not known is left out."""
    known = {"step": run.step, "runner": run.runner, "command": run.command}
    more = {"exit_code": run.exit_code, "outcome": run.outcome or None}
    counts = {name: getattr(run.counts, name) for name in Counts.__slots__} if run.counts else {}
    return {**known, **{name: value for name, value in more.items() if value is not None}, **counts}


def exit_code(result: str) -> int | None:
    """The exit code of a command that its result tells."""
    ends = result if len(result) <= 2 * _TAIL else result[:_TAIL] + "\n" + result[-_TAIL:]
    for pattern in _EXIT_CODES:
        if found := pattern.search(ends):
            return int(found[1])
    return None


def runner_of(command: str) -> tuple[str, bool] | None:
    """Which runner of tests a command runs, and whether that is the last thing it does; None where it runs none."""
    if len(command) > _LONGEST_LINE:
        return None
    commands = simple_commands(command)
    named = [(place, name) for place, words in enumerate(commands) if (name := _runner(words))]
    if not named:
        return None
    place, name = named[-1]
    return name, place == len(commands) - 1


def _calls(step: Step) -> Iterator[ToolCall]:
    yield from step.calls
    for agent in step.agents:
        for inner in agent.steps:
            yield from _calls(inner)


def _test_run(index: int, call: ToolCall) -> TestRun | None:
    command = _command(call)
    found = runner_of(command) if command else None
    if found is None:
        return None
    runner, is_last = found
    result = call.result or ""
    code = exit_code(result)
    counts = _counts(_ANSI.sub("", result[-_TAIL:]))
    outcome: Outcome = counts.outcome
    if not outcome and is_last and call.result is not None and not call.refused:
        if code is not None:
            outcome = "passed" if code == 0 else "failed"
        elif call.is_error:
            outcome = "failed"
    return TestRun(index, runner, short(" ".join(command.split()), _LONGEST_COMMAND), code, outcome, counts)


def _command(call: ToolCall) -> str:
    arguments = call.arguments
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    for name in ("command", "cmd"):
        value = arguments.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "..."] as Codex has it: the line is what the shell is told.
            return (
                value[-1] if len(value) > 2 and value[1].startswith("-") and value[1].endswith("c") else " ".join(value)
            )
    return ""


def _runner(words: list[str]) -> str:
    """The name of the runner of tests that the words call; "" for any other command."""
    while words:
        program, rest = basename(words[0]) if not words[0].startswith("./") else words[0], words[1:]
        plain = [word for word in rest if not word.startswith("-")]
        if program in _LAUNCHERS and plain[:1] in (["run"], ["exec"]):
            words = _behind(rest, plain[0])
            while words and words[0].startswith("-"):
                words = words[1:]
        elif program in _DIRECT and plain:
            words = [plain[0], *_behind(rest, plain[0])] if program != "coverage" else ["python", *_behind(rest, "run")]
        else:
            break
    if not words:
        return ""
    name = basename(words[0])
    if name in _ALWAYS and not {"--version", "--help", "-h"} & {*rest}:
        return name
    if plain[:1] and plain[0] in _SUBCOMMAND.get(program, ()):
        return f"{name} {plain[0]}"
    if program in ("mvn", "./mvnw", "gradle", "./gradlew") and {"test", "check", "verify"} & {*plain}:
        return name
    if program in _TASKS:
        targets = [word for word in plain if "=" not in word]
        if targets[:1] in (["run"], ["exec"], ["x"]):
            targets = targets[1:]
        target = next(iter(targets), "")
        is_short = target == "t" and program == "npm"
        return f"{name} {target}" if target and (is_short or _TASK.fullmatch(target)) else ""
    if name == "node" and "--test" in rest:
        return "node --test"
    if _PYTHONS.fullmatch(name):
        return _python_runner(rest, plain)
    return name if _SCRIPTS.fullmatch(words[0]) else ""


def _behind(words: list[str], word: str) -> list[str]:
    return words[words.index(word) + 1 :] if word in words else []


def _python_runner(rest: list[str], plain: list[str]) -> str:
    if "-m" in rest:
        module = "".join(rest[rest.index("-m") + 1 :][:1])
        return module if module in _MODULES else ""
    script = next(iter(plain), "")
    if basename(script) == "manage.py":
        return "manage.py test" if plain[1:2] == ["test"] else ""
    if basename(script) == "setup.py":
        return "setup.py test" if "test" in plain[1:] else ""
    return basename(script) if _SCRIPTS.fullmatch(script) else ""


# What runners print ---------------------------------------------------------------------------------------------------

_PYTEST = re.compile(r"^=*\s*((?:\d+ [a-z]+(?:, )?){1,8}) in \d[\d.]* ?s(?:econds)?\b.*$", re.MULTILINE)
_PYTEST_NONE = re.compile(r"^=*\s*no tests ran in ", re.MULTILINE)
_NUMBERED = re.compile(r"(\d{1,9}) ([a-z]+)")
_UNITTEST = re.compile(
    r"^Ran (\d{1,9}) tests? in [^\n]{1,40}\n[ \r]*\n?(?:OK|FAILED)(?: \(([^)\n]{1,200})\))?", re.MULTILINE
)
_EQUAL = re.compile(r"([a-z ]+)=(\d{1,9})")
_GO_TEST = re.compile(r"^--- (PASS|FAIL|SKIP): ", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(ok|FAIL)[ \t]+\S+[ \t]+(?:\d|\(cached\)|\[build failed\]|\[setup failed\])", re.MULTILINE)
_CARGO = re.compile(r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored", re.MULTILINE)
_JEST = re.compile(r"^\s*Tests:?\s+([^\n]{1,200})$", re.MULTILINE)
_JEST_PART = re.compile(r"(\d{1,9}) (failed|passed|skipped|todo)")
_MOCHA = re.compile(r"^\s*(\d{1,9}) (passing|failing|pending)\b", re.MULTILINE)
_NODE = re.compile(r"^[#\u2139] (pass|fail|skipped|cancelled) (\d{1,9})$", re.MULTILINE)
_SUREFIRE = re.compile(
    r"Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(?!, Time)", re.MULTILINE
)
_RSPEC = re.compile(r"^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?", re.MULTILINE)
_PHPUNIT = re.compile(r"^Tests: (\d{1,9}), Assertions: \d{1,9}([^\n]{0,200})\.", re.MULTILINE)
_PHPUNIT_OK = re.compile(r"^OK \((\d{1,9}) tests?,", re.MULTILINE)
_DOTNET = re.compile(r"Failed:\s*(\d{1,9}), Passed:\s*(\d{1,9}), Skipped:\s*(\d{1,9}), Total:")
_CTEST = re.compile(r"^\d+% tests passed, (\d{1,9}) tests? failed out of (\d{1,9})", re.MULTILINE)
_BUN = re.compile(r"^ *(\d{1,9}) (pass|fail|skip)$", re.MULTILINE)


def _pytest(text: str) -> Counts | None:
    lines = list(_PYTEST.finditer(text))
    if not lines:
        return None
    counted = {
        word.rstrip("s") if word == "errors" else word: int(number) for number, word in _NUMBERED.findall(lines[-1][1])
    }
    if not counted.keys() & {"passed", "failed", "error", "skipped", "xfailed", "xpassed", "deselected"}:
        return None
    return Counts(
        counted.get("passed", 0) + counted.get("xpassed", 0) + counted.get("xfailed", 0),
        counted.get("failed", 0),
        counted.get("error", 0),
        counted.get("skipped", 0),
    )


def _unittest(text: str) -> Counts | None:
    found = list(_UNITTEST.finditer(text))
    if not found:
        return None
    all_of, details = found[-1].groups()
    parts = {name.strip(): int(number) for name, number in _EQUAL.findall(details or "")}
    failed, errors, skipped = (parts.get(name, 0) for name in ("failures", "errors", "skipped"))
    failed += parts.get("unexpected successes", 0)
    return Counts(max(0, int(all_of) - failed - errors - skipped), failed, errors, skipped)


def _go(text: str) -> Counts | None:
    tests = _GO_TEST.findall(text)
    packages = _GO_PACKAGE.findall(text)
    if tests:
        # A package that does not compile has no test that fails.
        broken = max(0, packages.count("FAIL") - tests.count("FAIL")) if "FAIL" not in tests else 0
        return Counts(tests.count("PASS"), tests.count("FAIL"), broken, tests.count("SKIP"))
    return Counts(packages.count("ok"), packages.count("FAIL")) if packages else None


def _cargo(text: str) -> Counts | None:
    rows = [tuple(map(int, row)) for row in _CARGO.findall(text)]
    if not rows:
        return None
    passed, failed, ignored = (sum(column) for column in zip(*rows, strict=True))
    return Counts(passed, failed, 0, ignored)


def _jest(text: str) -> Counts | None:
    lines = [line for line in _JEST.findall(text) if _JEST_PART.search(line)]
    if not lines:
        return None
    parts = {word: int(number) for number, word in _JEST_PART.findall(lines[-1])}
    return Counts(parts.get("passed", 0), parts.get("failed", 0), 0, parts.get("skipped", 0) + parts.get("todo", 0))


def _mocha(text: str) -> Counts | None:
    parts = {word: int(number) for number, word in _MOCHA.findall(text)}
    return Counts(parts.get("passing", 0), parts.get("failing", 0), 0, parts.get("pending", 0)) if parts else None


def _node(text: str) -> Counts | None:
    parts = {word: int(number) for word, number in _NODE.findall(text)}
    if "pass" not in parts:
        return None
    return Counts(parts["pass"], parts.get("fail", 0), parts.get("cancelled", 0), parts.get("skipped", 0))


def _surefire(text: str) -> Counts | None:
    found = _SUREFIRE.findall(text)
    if not found:
        return None
    all_of, failed, errors, skipped = map(int, found[-1])
    return Counts(max(0, all_of - failed - errors - skipped), failed, errors, skipped)


def _rspec(text: str) -> Counts | None:
    found = _RSPEC.findall(text)
    if not found:
        return None
    all_of, failed, pending = (int(number or 0) for number in found[-1])
    return Counts(max(0, all_of - failed - pending), failed, 0, pending)


def _phpunit(text: str) -> Counts | None:
    if found := _PHPUNIT.findall(text):
        parts = {name.strip().lower(): int(number) for name, number in re.findall(r"(\w+): (\d{1,9})", found[-1][1])}
        failed, errors, skipped = (parts.get(name, 0) for name in ("failures", "errors", "skipped"))
        return Counts(max(0, int(found[-1][0]) - failed - errors - skipped), failed, errors, skipped)
    passed = _PHPUNIT_OK.findall(text)
    return Counts(int(passed[-1])) if passed else None


def _dotnet(text: str) -> Counts | None:
    rows = [tuple(map(int, row)) for row in _DOTNET.findall(text)]
    if not rows:
        return None
    failed, passed, skipped = (sum(column) for column in zip(*rows, strict=True))
    return Counts(passed, failed, 0, skipped)


def _ctest(text: str) -> Counts | None:
    found = _CTEST.findall(text)
    if not found:
        return None
    failed, all_of = map(int, found[-1])
    return Counts(max(0, all_of - failed), failed)


def _bun(text: str) -> Counts | None:
    parts = {word: int(number) for number, word in _BUN.findall(text)}
    return Counts(parts["pass"], parts.get("fail", 0), 0, parts.get("skip", 0)) if "pass" in parts else None


_SUMMARIES: tuple[Callable[[str], Counts | None], ...] = (
    _pytest, _unittest, _cargo, _go, _jest, _surefire, _dotnet, _rspec, _phpunit, _ctest, _node, _mocha, _bun,
)  # fmt: skip


def _counts(text: str) -> Counts:
    """What the summary at the end of an output counts; nothing where no runner's summary is there."""
    for summary in _SUMMARIES:
        counts = summary(text)
        if counts is not None:
            return counts
    return Counts()
