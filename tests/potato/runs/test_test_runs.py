"""Runs of tests in an agent's run: found by their command, with what came of them as the output says it."""

import pytest

from potato.checks.model import Counts
from potato.runs.converters.reading import read_file
from potato.runs.model import AgentRun, Converted, ReadingOptions, Step, SubAgent, ToolCall
from potato.runs.run_files import source_at
from potato.runs.test_runs import exit_code, last_outcome, run_record, runner_of, test_runs
from tests.shared_data import shared_files


def run(*calls: ToolCall) -> AgentRun:
    return AgentRun("r", "t", steps=tuple(Step(calls=(call,)) for call in calls))


def shell(command: object, result: str | None, *, is_error: bool = False) -> ToolCall:
    return ToolCall("1", "bash", {"command": command}, result, is_error)


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest tests/ -q", "pytest"), ("cd /w && python3 -m pytest -x 2>&1 | tail -5", "pytest"),
        ("PYTHONPATH=. timeout 60 python -m unittest discover", "unittest"),
        ("python manage.py test shop", "manage.py test"),
        ("./tests/runtests.py model_enums", "runtests.py"), ("go test ./...", "go test"),
        ("cargo test --all", "cargo test"),
        ("npm test", "npm test"), ("npm run test:unit -- --run", "npm test:unit"), ("npx jest price", "jest"),
        ("yarn vitest run", ""), ("uv run pytest", "pytest"), ("poetry run -q pytest", "pytest"),
        ("make -j4 check", "make check"),
        ("mvn -q clean test", "mvn"), ("./gradlew test", "gradlew test"), ("bash -lc 'cargo test'", "cargo test"),
        ("mise run test:ci", "mise test:ci"), ("node --test", "node --test"), ("coverage run -m pytest", "pytest"),
        ("ls tests", ""), ("cat test_price.py", ""), ("python test_price.py", ""), ("pip install pytest", ""),
        ("grep -rn pytest .", ""), ("pytest --version", ""), ("git commit -m 'run pytest'", ""), ("echo 'go test'", ""),
        ("cat <<'EOF' > run.sh\npytest\nEOF", ""), ("make build", ""), ("unfinished 'quote", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_command_runs_tests_by_its_words(command: str, runner: str) -> None:
    found = runner_of(command)
    assert (found[0] if found else "") == runner


OUTPUTS = {
    "pytest": ("==== 1 failed, 12 passed, 2 skipped, 1 error in 3.21s ====", Counts(12, 1, 1, 2)),
    "pytest -q": ("....\n365 passed, 1 warnings in 4.31 seconds", Counts(365)),
    "python -m unittest": ("Ran 17 tests in 0.118s\n\nFAILED (failures=2, errors=1, skipped=1)", Counts(13, 2, 1, 1)),
    "python manage.py test": ("Ran 1 test in 0.1s\r\n\r\nOK", Counts(1)),
    "go test ./...": ("ok  \tacme/a\t1.2s\nok  \tacme/b\t(cached)\nFAIL\tacme/c\t0.3s\nFAIL", Counts(2, 1)),
    "go test -v .": ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.10s)\nFAIL\nFAIL\tacme\t0.1s",
                     Counts(1, 1)),
    "cargo test": (
        "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured\n\n"
        "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured", Counts(7, 1, 0, 1)),
    "npx jest": ("Test Suites: 1 failed, 2 total\nTests:       1 failed, 1 skipped, 20 passed, 22 total",
                 Counts(20, 1, 0, 1)),
    "npx vitest run": (" Test Files  2 passed (2)\n      Tests  1 failed | 5 passed (6)", Counts(5, 1)),
    "npx mocha": ("  7 passing (20ms)\n  1 pending\n  2 failing", Counts(7, 2, 0, 1)),
    "node --test": ("# tests 3\n# pass 2\n# fail 1\n# skipped 0", Counts(2, 1)),
    "mvn test": ("Tests run: 4, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 1 s\n"
                 "[ERROR] Tests run: 9, Failures: 1, Errors: 2, Skipped: 1\n", Counts(5, 1, 2, 1)),
    "rspec": ("12 examples, 2 failures, 1 pending", Counts(9, 2, 0, 1)),
    "phpunit": ("Tests: 9, Assertions: 20, Failures: 1, Skipped: 2.", Counts(6, 1, 0, 2)),
    "dotnet test": ("Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5", Counts(4, 1)),
    "ctest": ("67% tests passed, 1 tests failed out of 3", Counts(2, 1)),
    "bun test": (" 5 pass\n 1 fail\n", Counts(5, 1)),
}  # fmt: skip


@pytest.mark.parametrize("command", OUTPUTS)
def test_what_came_of_the_tests_is_what_the_runner_printed(command: str) -> None:
    output, counts = OUTPUTS[command]
    coloured = "\x1b[1m" + "x" * 50_000 + "\n\x1b[32m" + output + "\x1b[0m"
    (found,) = test_runs(run(shell(command, coloured)))
    assert found.counts == counts
    assert found.outcome == ("failed" if counts.failed else "passed")


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ("Exit code 1\nTraceback", 1), ("<returncode>2</returncode>\n<output>", 2),
        ("...\n[The command completed with exit code 0.]", 0), ("Process exited with code 101", 101),
        ('{"output": "x", "metadata": {"exit_code": 3}}', 3), ("Output: x\nExit Code: 4\nSignal: none", 4),
        ("it printed Exit code 7 in its middle", None), ("", None),
    ],
)  # fmt: skip
def test_exit_codes_are_read_as_each_agent_writes_them(result: str, code: int | None) -> None:
    assert exit_code(result) == code


def test_without_a_summary_the_exit_code_counts_where_the_tests_came_last() -> None:
    runs = test_runs(
        run(
            shell("make test", "<returncode>2</returncode>"),
            shell("make test; echo done", "<returncode>0</returncode>"),
            shell("make test | tail -3", "<returncode>0</returncode>"),
            shell("make test", "Exit code 0"),
            shell("make test", "broke", is_error=True),
            shell("make test", "fine"),
            shell(["bash", "-lc", "make test"], None),
        )
    )
    assert [(found.outcome, found.exit_code) for found in runs] == [
        ("failed", 2), ("", 0), ("", 0), ("passed", 0), ("failed", None), ("", None), ("", None),
    ]  # fmt: skip
    assert last_outcome(runs) == "failed"
    assert run_record(runs[0]) == {
        "step": 0, "runner": "make test", "command": "make test", "exit_code": 2, "outcome": "failed",
    }  # fmt: skip


def test_tests_of_a_sub_agent_stand_at_the_step_that_started_it() -> None:
    inner = Step(calls=(shell("pytest", "1 passed in 0.1s"),))
    agent_run = AgentRun("r", "t", steps=(Step(message="a"), Step(agents=(SubAgent("helper", steps=(inner,)),))))
    assert [(found.step, found.counts) for found in test_runs(agent_run)] == [(1, Counts(1))]


def test_long_outputs_and_long_commands_say_nothing() -> None:
    hostile = ["= " * 100_000, "1 passed, " * 50_000, "Ran 1 tests in \n" * 20_000, "(" * 200_000, "9" * 200_000]
    for text in hostile:
        # A quadratic search would take longer than a test may.
        assert test_runs(run(shell("pytest", text)))[0].outcome == ""
        test_runs(run(shell(f"pytest {text}", "1 passed in 1s")))


def test_the_exit_codes_and_summaries_of_real_runs_agree() -> None:
    """Where pytest printed its summary the outcome of that must be what its exit code says, too."""
    compared = 0
    for path in shared_files("mini-swe-agent/*.json"):
        for entry in read_file(source_at(path), ReadingOptions()):
            for found in test_runs(entry.run) if isinstance(entry, Converted) else ():
                if found.counts and found.exit_code is not None:
                    compared += 1
                    assert (found.outcome == "passed") == (found.exit_code == 0), found
    assert compared >= 20
