"""Predictions, diffs and mailed patches become runs whose change is the patch, byte for byte."""

import base64
import json
import quopri
import subprocess
from pathlib import Path

import pytest

from potato.runs.changes.derive import derive
from potato.runs.model import ReadingOptions, Unreadable
from tests.potato.runs.damaged_files import damaged, read_without_error
from tests.potato.runs.reading import errors, jsonl, read, runs, the_one, the_refusal

DIFF = b"diff --git a/cart.py b/cart.py\n--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-a\n+b\n"


def prediction(
    instance: str = "shop__cart-7", model: str = "agent-1", patch: object = DIFF.decode()
) -> dict[str, object]:
    return {"instance_id": instance, "model_name_or_path": model, "model_patch": patch}


def test_a_prediction_is_a_run_that_is_its_patch() -> None:
    run = the_one(jsonl(prediction()), "preds.jsonl").run
    assert (run.external_id, run.instance_id, run.repo, run.agent_model) == (
        "shop__cart-7",
        "shop__cart-7",
        "shop/cart",
        "agent-1",
    )
    assert run.patch == DIFF
    assert run.steps == ()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("preds.jsonl", jsonl(prediction("a__b-1"), prediction("a__b-2"))),
        ("preds.json", json.dumps([prediction("a__b-1"), prediction("a__b-2")], indent=1).encode()),
        ("preds.json", json.dumps({key: prediction(key) for key in ("a__b-1", "a__b-2")}, indent=1).encode()),
        ("preds.json", json.dumps({key: prediction(key) for key in ("a__b-1", "a__b-2")}).encode()),
        ("preds.json", json.dumps([prediction("a__b-1"), prediction("a__b-2")]).encode()),
    ],
)
def test_predictions_come_as_lines_as_a_list_and_as_an_object(name: str, data: bytes) -> None:
    answers = read(data, name)
    assert getattr(answers[0], "format", "") == "swebench"
    assert [run.external_id for run in runs(answers)] == ["a__b-1", "a__b-2"]


@pytest.mark.parametrize("patch", [None, "", " \n"])
def test_a_prediction_without_a_patch_is_an_error_and_never_an_empty_run(patch: object) -> None:
    answers = read(jsonl(prediction("a__b-1"), prediction("a__b-2", patch=patch)))
    assert [run.external_id for run in runs(answers)] == ["a__b-1"]
    assert [answer.sentence for answer in answers if isinstance(answer, Unreadable)] == [
        "Prediction 2 (a__b-2): agent-1 gave no patch, so there is nothing to judge."
    ]


def test_predictions_of_several_models_for_an_instance_have_ids_of_their_own() -> None:
    data = jsonl(prediction("a__b-1", "agent-1"), prediction("a__b-1", "agent-2"), prediction("a__b-2", "agent-1"))
    found = runs(read(data))
    assert [run.external_id for run in found] == ["a__b-1@agent-1", "a__b-1@agent-2", "a__b-2"]
    assert [run.instance_id for run in found] == ["a__b-1", "a__b-1", "a__b-2"]


def test_the_repository_of_a_free_id_and_the_task_of_a_bare_prediction_are_unknown() -> None:
    run = the_one(jsonl(prediction("my-task"))).run
    assert (run.repo, run.task) == ("", "")


def test_a_task_text_beside_the_prediction_is_read_where_the_project_says() -> None:
    record = prediction() | {"goal": "Round prices."}
    converted = the_one(jsonl(record), options=ReadingOptions(text_key="goal"))
    assert converted.run.task == "Round prices."
    assert converted.report.unknown == {}


def test_what_is_no_prediction_is_an_error_in_its_place() -> None:
    data = jsonl(
        prediction(), {"resolved": []}, prediction("x", patch={"a": 1}), prediction("", patch="x"), prediction("y")
    )
    assert errors(read(data)) == [(2, "no_instance_id"), (3, "wrong_shape"), (4, "no_instance_id")]
    assert len(runs(read(data))) == 2


def test_a_plain_diff_is_a_run_with_the_name_of_its_file() -> None:
    data = b"Only in tests: x\n" + DIFF + b"\\ No newline at end of file\n+caf\xe9\0\r\n"
    run = the_one(data, "fix.diff").run
    assert (run.external_id, run.task, run.agent_model) == ("fix.diff", "", "")
    assert run.patch == data.removeprefix(b"Only in tests: x\n")


def test_a_text_without_a_diff_is_no_patch() -> None:
    assert the_refusal(b"--- nothing here ---\n", "a.patch").code == "not_a_trace"
    assert errors(read(b"nothing", "a.patch", named="patch", explicit=True)) == [(1, "no_diff")]


ALICE = "alice@example.com"


def mail(subject: str, body: bytes, sender: str = "0" * 39 + "1", headers: str = "") -> bytes:
    """A mail as git writes it into a mailbox."""
    return (
        f"From {sender} Mon Sep 17 00:00:00 2001\nFrom: Alice <alice@example.com>\n"
        f"Date: Sun, 1 Mar 2026 10:00:00 +0100\nSubject: {subject}\n{headers}\n"
    ).encode() + body


BODY = b"Prices had eleven decimals.\n---\n cart.py | 2 +-\n 1 file changed\n\n" + DIFF + b"-- \n2.39.5\n\n"


def test_each_mail_of_a_mailbox_is_a_run_with_its_subject_and_text_as_the_task() -> None:
    box = (
        mail("[PATCH v2 0/3] Prices", b"Two patches.\n\n-- \n2.39.5\n\n")
        + mail("[PATCH v3] Round prices that\n are long", BODY, sender="a" * 40)
        + mail("[PATCH] =?UTF-8?q?Caf=C3=A9?= prices", BODY, "alice@example.com", "Message-Id: <7@example.com>\n")
        + mail("Without a tag", BODY, "alice@example.com")
    )
    answers = read(box, "series.mbox")
    assert errors(answers) == [(1, "no_diff")]
    found = runs(answers)
    assert [(run.external_id, run.task) for run in found] == [
        ("a" * 40, "Round prices that are long\n\nPrices had eleven decimals."),
        ("7@example.com", "Café prices\n\nPrices had eleven decimals."),
        ("series.mbox#4", "Without a tag\n\nPrices had eleven decimals."),
    ]
    assert {run.patch for run in found} == {DIFF}
    assert {run.started_at for run in found} == {"2026-03-01T10:00:00+01:00"}


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("quoted-printable", quopri.encodestring(BODY)), ("base64", base64.encodebytes(BODY))],
)
def test_an_encoded_mail_is_decoded(encoding: str, body: bytes) -> None:
    headers = f"MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n"
    run = the_one(mail("[PATCH] Round", body, headers=headers), "one.patch").run
    assert run.patch == DIFF
    assert run.task == "Round\n\nPrices had eleven decimals."


def test_a_subject_may_have_letters_and_bytes_that_are_none_side_by_side() -> None:
    box = mail("[PATCH] Caf\u00e9 and ?? prices", BODY).replace(b"??", b"\xff")
    assert the_one(box, "one.patch").run.task == "Caf\u00e9 and \ufffd prices\n\nPrices had eleven decimals."


def test_a_line_of_a_diff_that_looks_like_a_signature_is_kept() -> None:
    diff = DIFF.replace(b"-a\n", b"-- \n")
    run = the_one(mail("[PATCH] Drop a rule", b"---\n" + diff), "one.patch").run
    assert run.patch == diff


def test_a_commit_message_may_quote_lines_of_a_diff() -> None:
    quoted = b"Before it was\n\n@@ -1 +1 @@\n-x\ndiff --git a/other.py b/other.py\n"
    listed = b"---\n a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
    # Where no list tells them apart, a line "---" of the diff ends no message.
    for before, body in ((quoted, quoted + listed), (b"", b"---\n")):
        diff = DIFF.replace(b"-a\n", b"---\n") + DIFF
        run = the_one(mail("[PATCH] Quote", body + diff), "one.patch").run
        assert (run.patch, before.strip() in run.task.encode()) == (diff, True)


def test_what_git_writes_for_commits_is_read_back(tmp_path: Path) -> None:
    def git(*arguments: str) -> bytes:
        settings = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *settings, *arguments], cwd=tmp_path, check=True, capture_output=True).stdout

    git("init", "-q")
    for number, content in enumerate((b"one\n", b"two \xff\r\n", b"three")):
        (tmp_path / "naïve file.txt").write_bytes(content)
        git("add", ".")
        git("commit", "-q", "-m", f"Write {number} naïvely\n\nA reason of\ntwo lines.")
    commits = git("rev-list", "--reverse", "HEAD~2..HEAD").decode().split()
    box = git("format-patch", "--stdout", "--no-numbered", "HEAD~2")
    found = runs(read(box, "commits.mbox"))
    assert [run.task for run in found] == [f"Write {number} naïvely\n\nA reason of\ntwo lines." for number in (1, 2)]
    assert [run.external_id for run in found] == commits
    for run in found:
        assert run.patch == git("diff", f"{run.external_id}~", run.external_id)
    series = the_one(git("format-patch", "--stdout", "HEAD~2"), "commits.mbox").run
    assert [step.message for step in series.steps] == [run.task for run in found]
    assert (series.external_id, series.task) == (commits[1], "Write 1 naïvely\nWrite 2 naïvely")
    assert series.patch == b"".join(git("diff", f"{commit}~", commit) for commit in commits)


SECOND = b"More.\n---\n cart.py | 2 +-\n 1 file changed\n\n" + DIFF.replace(b"+b", b"+c").replace(b"-a", b"-b")
ADDED = (
    b"New.\n---\n tax.py | 1 +\n 1 file changed\n\ndiff --git a/tax.py b/tax.py\nnew file mode 100644\n--- /dev/null\n"
    b"+++ b/tax.py\n@@ -0,0 +1 @@\n+rate\n"
)


def series(total: int = 3, numbers: tuple[int, ...] = (0, 1, 2, 3), tag: str = "PATCH") -> bytes:
    bodies = {0: b"Why: prices.\n\n-- \n2.39.5\n\n", 1: BODY, 2: SECOND, 3: ADDED}
    return b"".join(
        mail(f"[{tag} {number}/{total}] Part {number}", bodies[number], sender=f"{number}" * 40) for number in numbers
    )


def test_a_series_is_one_run_whose_steps_are_its_commits() -> None:
    run = the_one(series(), "series.mbox").run
    assert [step.message.partition("\n")[0] for step in run.steps] == ["Part 1", "Part 2", "Part 3"]
    assert (run.task, run.external_id, run.gaps) == ("Part 0\n\nWhy: prices.", "3" * 40, ())
    cart, tax = derive(run).files
    assert (cart.path, cart.steps, [badge.code for badge in cart.badges]) == ("cart.py", (0, 1), ["changed_in_parts"])
    assert (tax.path, tax.operation, tax.steps, tax.added) == ("tax.py", "added", (2,), 1)


def test_patches_of_a_series_that_are_not_there_are_said() -> None:
    run = the_one(series(numbers=(1, 3)), "series.mbox").run
    assert run.gaps == ("Of the series of 3 patches, these are not in the file: 2.",)
    assert run.task == "Part 1\nPart 3"


def test_two_series_are_two_runs_and_a_patch_of_a_series_alone_is_a_mail_by_itself() -> None:
    box = series() + series(tag="PATCH v2") + series(numbers=(1,)) + mail("[PATCH] Alone", BODY, "e" * 40)
    found = runs(read(box, "series.mbox"))
    assert [(run.task.partition("\n")[0], len(run.steps)) for run in found] == [
        ("Part 0", 3), ("Part 0", 3), ("Part 1", 0), ("Alone", 0),
    ]  # fmt: skip


def test_damaged_series_give_runs_or_errors_by_name() -> None:
    for copy in damaged(series() + series(numbers=(1,)), 9, 300):
        read_without_error(copy, "a.mbox", "patch")
