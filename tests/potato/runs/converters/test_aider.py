"""Chat histories of Aider: a session is a run, a reply a step, and what the program applied is what happened."""

import pytest

from potato.runs.changes.derive import derive
from potato.runs.packages import runs_among
from tests.function_calls import calls_of
from tests.potato.runs.damaged_files import damaged, read_without_error
from tests.potato.runs.reading import errors, read, runs, the_one

NAME = ".aider.chat.history.md"


def session(*parts: str, at: str = "2026-10-02 12:00:00") -> str:
    return (
        f"\n# aider chat started at {at}\n\n> Aider v0.86.1  \n> Main model: m-1 with diff edit format  \n"
        + "".join(parts)
    )


def asks(words: str) -> str:
    return "\n" + "".join(f"#### {line}  \n" for line in words.split("\n"))


def block(path: str, old: str, new: str, fence: str = "```python") -> str:
    return f"{path}\n{fence}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"


def notes(*lines: str) -> str:
    return "\n" + "".join(f"> {line}  \n" for line in lines)


ROUND = session(
    asks("/add price.py"),
    notes("Added price.py to the chat"),
    asks("Round the totals.\n\nTo two digits."),
    "\nI round them:\n\n",
    block("price.py", "    return int(total)\n", "    return round(total, 2)\n"),
    "\n> a quote of mine\n",
    "\nAnd a test:\n\n",
    block("tests/test_price.py", "", "import price\n\n# > no note\n#### no prompt\n"),
    notes(
        "Tokens: 2.1k sent, 300 received.",
        "Allow creation of new file tests/test_price.py? (Y)es/(N)o [Yes]: y",
        "Applied edit to price.py",
        "Applied edit to tests/test_price.py",
        "Commit abc1234 fix: Round totals",
        "Running pytest -q",
        "1 failed",
        "Fix it?",
    ),
    "\nI mend the test.\n\n",
    block("tests/test_price.py", "import price\n", "import shop.price\n"),
    notes("Applied edit to tests/test_price.py"),
)


def test_each_reply_is_a_step_with_its_edits_and_what_the_program_did() -> None:
    converted = the_one(ROUND.encode(), NAME)
    first, second = converted.run.steps
    assert converted.run.task == "Round the totals.\n\nTo two digits."
    assert [(call.name, call.arguments.get("file_path"), call.result) for call in first.calls] == [
        ("edit", "price.py", "Applied edit to price.py"),
        ("edit", "tests/test_price.py", "Applied edit to tests/test_price.py"),
        ("commit", None, "abc1234"),
        ("bash", None, "1 failed\nFix it?\n"),
    ]
    assert "SEARCH" not in first.message
    assert first.message.startswith("I round them:")
    assert second.message == "I mend the test."
    assert (converted.run.agent_model, converted.run.started_at) == ("m-1", "2026-10-02T12:00:00")


NEWER = session(
    asks("Make a script."),
    "\nHere it is:\n\n",
    block("run.sh", "", "#!/bin/sh\necho 1\n"),
    "\n> Tokens: 3.7k sent, 1.5k received.  \n> run.sh  \n> Create new file? (Y)es/(N)o [Yes]: y  \n"
    "> no.sh  \n> Create new file? (Y)es/(N)o [Yes]: n  \n"
    "> Committing price.py before applying edits.  \n> Commit 1111111 chore: mine  \n"
    "> Applied edit to run.sh  \n> Commit 2222222 feat: add script  \n"
    "> export OWNER=me\nexport NAME=x      \n./run.sh  \n"
    "> Run shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: n  \n"
    "> You can use /undo to undo and discard each aider commit.  \n",
    asks("And say two."),
    block("\nrun.sh", "echo 1\n", "echo 2\n"),
    "\n> Applied edit to run.sh  \n> The edit was odd:\n  line 2 has no end  \n",
    "\nI see.\n",
)


def test_questions_of_newer_versions_stand_below_what_they_are_about() -> None:
    converted = the_one(NEWER.encode(), NAME)
    first, second, third = converted.run.steps
    assert [(call.name, call.result) for call in first.calls] == [
        ("edit", "Applied edit to run.sh"),
        ("commit", "2222222"),
    ]
    assert [(file.path, file.operation, file.added, file.removed) for file in derive(converted.run).files] == [
        ("run.sh", "added", 2, 0)
    ]
    assert (second.prompt, third.message) == ("And say two.", "I see.")
    assert third.prompt == "The edit was odd:\n  line 2 has no end"
    assert converted.report.dropped["commit of what the person had changed"] == 1


def test_the_edits_that_were_applied_are_the_change() -> None:
    run = the_one(ROUND.encode(), NAME).run
    price, tests = derive(run).files
    assert (price.path, price.added, price.removed, price.steps) == ("price.py", 1, 1, (0,))
    assert (tests.operation, tests.new_text) == ("added", "import shop.price\n\n# > no note\n#### no prompt\n")


def test_an_edit_that_was_not_applied_changed_nothing() -> None:
    text = session(asks("Round."), "\nSo:\n\n", block("price.py", "a\n", "b\n"), notes("The SEARCH block must match."))
    (step,) = the_one(text.encode(), NAME).run.steps
    assert (step.calls[0].result, step.after) == (None, "The SEARCH block must match.")
    assert derive(the_one(text.encode(), NAME).run).files == ()


@pytest.mark.parametrize("fence", ["```", "```python"])
def test_a_block_without_a_name_is_for_the_file_before(fence: str) -> None:
    second = block("", "c\n", "d\n", fence).lstrip("\n")
    text = session(asks("x"), "\nSo:\n\n", block("a.py", "a\n", "b\n", fence), second, notes("Applied edit to a.py"))
    (step,) = the_one(text.encode(), NAME).run.steps
    assert [call.arguments["file_path"] for call in step.calls] == ["a.py", "a.py"]


def test_a_difference_and_a_whole_file_are_edits_too() -> None:
    difference = "```diff\n--- a.py\n+++ a.py\n@@ ... @@\n x\n-y\n+z\n--- /dev/null\n+++ new.py\n@@ @@\n+n\n```\n"
    whole = "whole.py\n```\nall\n```\n"
    applied = ("Create new file whole.py", *(f"Applied edit to {name}" for name in ("a.py", "new.py", "whole.py")))
    text = session(asks("x"), "\nSo:\n\n", difference, whole, notes(*applied))
    changes = {file.path: file for file in derive(the_one(text.encode(), NAME).run).files}
    assert (changes["a.py"].added, changes["a.py"].removed) == (1, 1)
    assert (changes["new.py"].operation, changes["new.py"].new_text) == ("added", "n\n")
    assert changes["whole.py"].new_text == "all\n"


def test_an_edit_that_is_not_in_the_reply_is_not_guessed() -> None:
    text = session(asks("x"), "\nDone.\n", notes("Applied edit to a.py"))
    (change,) = derive(the_one(text.encode(), NAME).run).files
    assert [badge.code for badge in change.badges] == ["change_not_recorded"]


def test_sessions_are_runs_of_their_own_and_one_without_a_reply_is_an_error_by_name() -> None:
    text = ROUND + session(asks("/exit"), at="2026-10-02 13:00:00") + session(asks("Hi"), "\nHello.\n")
    answers = read(text.encode(), NAME)
    assert errors(answers) == [(ROUND.count("\n") + 2, "no_steps")]
    assert [run.external_id for run in runs(answers)] == [f"{NAME}#1", f"{NAME}#3"]


def test_a_history_whose_lines_lost_their_spaces_is_read() -> None:
    text = "\n".join(line.rstrip() for line in ROUND.replace("\n> a quote of mine\n", "").split("\n"))
    assert len(the_one(text.encode(), NAME).run.steps) == 2


def test_commands_to_the_program_are_no_prompts() -> None:
    text = session(asks("/model x"), asks("/ask Why?"), "\nSo.\n", asks("/run make"), "\nI see.\n")
    converted = the_one(text.encode(), NAME)
    assert converted.run.task == "/ask Why?"
    assert converted.run.steps[1].prompt == "! make"
    assert converted.report.dropped["command"] == 1


def test_damaged_histories_give_runs_or_errors_by_name() -> None:
    for copy in damaged((ROUND + ROUND).encode(), 4, 400):
        read_without_error(copy, NAME, "aider")


@pytest.mark.parametrize(
    "line", ["\n", "\r\n", " \n", "> \n", "> x\n", "####\n", "x\n", "```\n", "a.py\n\n", "x\n> y\n\n"]
)
def test_a_history_of_twice_the_lines_takes_twice_the_work(line: str) -> None:
    def calls(lines: int) -> int:
        data = (session(asks("Fix it"), "\nSure.\n") + line * lines).encode()
        return calls_of(lambda: read(data, NAME, named="aider", explicit=True))

    assert calls(4_000) < 2.2 * calls(2_000)


def test_a_history_in_a_folder_is_a_run_of_it_though_it_is_hidden() -> None:
    assert runs_among(["a/.aider.chat.history.md", "a/.aider.tags.md", "README.md"]) == ["a/.aider.chat.history.md"]
