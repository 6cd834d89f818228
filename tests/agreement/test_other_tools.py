"""Annotations of other tools come in marked with their origin, take no slot, come in once, and leave as they came."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from agreement.models import Source, SourceAnswer
from assignments.models import Submission, TraceQuota
from jobs.models import Job
from tenancy.actor import acting
from tests.agreement.judging import Judging

IMPORTS = "/o/acme/api/v1/projects/parser/sources/imports/"
PAGE = "/o/acme/p/parser/agreement/machines/"
PULL = "https://api.github.com/repos/acme/parser/pulls/7"


def review_comment(number: int, line: int | None, body: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "path": "src/parser.py",
        "line": line,
        "original_line": 15,
        "side": "RIGHT",
        "body": body,
        "user": {"login": "octo", "type": "User"},
        "created_at": f"2026-02-01T10:00:{number:02}Z",
        "pull_request_url": PULL,
        **more,
    }


REVIEW = {
    "reviews": [
        {
            "id": 90,
            "user": {"login": "octo", "type": "User"},
            "state": "CHANGES_REQUESTED",
            "body": "Not yet.",
            "submitted_at": "2026-02-01T10:01:00Z",
            "pull_request_url": PULL,
        }
    ],
    "comments": [
        review_comment(1, 15, "Off by one.\n\n```suggestion\nfixed = 1\n```\n"),
        review_comment(2, 9_000, "Nowhere in the change."),
        review_comment(3, None, "Outdated."),
        review_comment(4, 16, "An answer.", in_reply_to_id=1),
    ],
}


def manager(judging: Judging) -> Client:
    client = Client()
    client.force_login(judging.tenants.mallory)
    return client


def imported(judging: Judging, files: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What the API answers of an import, once it is over."""
    client = manager(judging)
    body = {"files": [{"name": name, "content": content} for name, content in files.items()], **more}
    started = client.post(IMPORTS, json.dumps(body), content_type="application/json")
    assert started.status_code == 202, started.content
    judging.work()
    over: dict[str, Any] = client.get(started["Location"]).json()
    return over


def test_a_review_of_github_comes_in_by_the_api_and_leaves_in_an_export_with_its_origin(judging: Judging) -> None:
    judging.begin(2, target=1)
    told = imported(judging, {"review.json": REVIEW}, trace="t00")
    assert (told["state"], told["taken"], told["known"], told["refused"], told["left_out"]) == ("done", 1, 0, 0, 3)
    reasons = [problem["sentence"] for problem in told["problems"]]
    assert any("Later commits changed its lines" in reason and "line 15" in reason for reason in reasons)
    assert any("answers another comment" in reason for reason in reasons)
    assert any("9000" in reason and reason.startswith("Left out") for reason in reasons)
    source = judging.source()
    assert (source.name, source.kind) == ("octo (GitHub)", "person_elsewhere")
    kept = manager(judging).get(f"/o/acme/api/v1/sources/{source.pk}/answers/").json()["results"][0]
    assert kept["origin"] == {"tool": "github", "file": "review.json", "id": "1, 2, 90", "author": "octo"}

    again = imported(judging, {"review.json": REVIEW}, trace="t00")
    assert (again["taken"], again["known"], again["left_out"]) == (0, 1, 3), "twice is once"
    with acting(judging.actor):
        assert SourceAnswer.objects.count() == 1
        assert not Submission.objects.exists(), "nobody here submitted anything"
        assert not TraceQuota.objects.filter(done__gt=0).exists(), "no slot is filled"

    page = manager(judging).get(f"{PAGE}{source.pk}/").content.decode()
    assert "Made elsewhere: GitHub, octo, review.json, 1, 2, 90" in page
    assert "src/parser.py, line 15" in page
    assert "fixed = 1" in page
    annotator = Client()
    annotator.force_login(judging.tenants.bob)
    assert annotator.get(f"{PAGE}{source.pk}/").status_code == 403

    judging.person_says(judging.tenants.bob, {"t00": "approve"})
    out = judging.folder / "out.jsonl"
    export = ("export", "--project", "acme/parser", "-f", "code_review", "-o", str(out))
    call_command(*export)
    assert [json.loads(line)["annotator"] for line in out.read_text().splitlines()] == ["bob"]
    call_command(*export, "--sources", "octo (GitHub)")
    record = json.loads(out.read_text().splitlines()[1])
    assert (record["source"]["kind"], record["origin"]) == ("person_elsewhere", kept["origin"])
    assert record["annotations"]["verdict"] == {"decision": "request_changes", "summary": "Not yet."}
    (comment,) = record["annotations"]["inline_comments"]
    assert (comment["line_start"], comment["suggestion"], comment["comment_id"]) == (15, "fixed = 1", "github-1")
    assert "category" not in comment, "nobody asked for one there"
    call_command(*export, "--sources", "octo (GitHub)", "--pseudonyms", "yes")
    hidden = json.loads(out.read_text().splitlines()[1])
    assert hidden["source"]["name"].startswith("person_")
    assert hidden["origin"] == {"tool": "github"}
    assert b"octo" not in out.read_bytes()


def test_an_output_folder_of_potato_comes_in_by_the_command_and_as_a_zip_by_the_page(
    judging: Judging, capsys: pytest.CaptureFixture[str]
) -> None:
    judging.begin(3)
    output = judging.folder / "annotation_output"
    for person, decision in (("ann", "approve"), ("ben", "request_changes")):
        (output / person).mkdir(parents=True)
        labels = {"t00": [[{"schema": "verdict", "name": decision}, "true"]], "t77": {"verdict": {"approve": "true"}}}
        state = {"user_id": person, "instance_id_to_label_to_value": labels}
        (output / person / "user_state.json").write_text(json.dumps(state))
        line = {"id": "t00", "label_annotations": {"verdict": {decision: "true"}}}
        (output / person / "annotated_instances.jsonl").write_text(json.dumps(line) + "\n")
        (output / person / "annotation_order.txt").write_text("t00\n")
    call_command("import_answers", "acme/parser", str(output), "--from", "auto")
    told = capsys.readouterr()
    assert "annotation_output: 2 answers taken, 0 known, 2 refused." in told.out
    assert "ann/user_state.json, t77: parser has no trace 't77'" in told.err
    with acting(judging.actor):
        assert sorted(Source.objects.values_list("name", flat=True)) == ["ann (Potato 2.x)", "ben (Potato 2.x)"]

    client = manager(judging)
    zipped = SimpleUploadedFile("output.zip", packed(output))
    page = client.post(f"{PAGE}import/", {"file": zipped, "tool": "potato_2"}, follow=True)
    assert b"is being imported" in page.content
    judging.work()
    with acting(judging.actor):
        job = Job.objects.filter(kind="import_answers").latest("created_at")
        assert (job.result["taken"], job.result["known"], job.result["refused"]) == (0, 2, 2)
    shown = client.get(PAGE).content.decode()
    assert "Person in another tool" in shown
    assert "user_state.json, t77: parser has no trace &#x27;t77&#x27;" in shown


def test_what_names_mean_is_said_and_a_file_of_nothing_that_fits_fails_with_its_reason(judging: Judging) -> None:
    judging.begin(1)
    scores = [{"traceId": "t00", "name": "quality", "value": 1, "dataType": "NUMERIC", "source": "EVAL"}]
    failed = imported(judging, {"scores.jsonl": scores})
    assert failed["state"] == "failed"
    assert "This project does not ask “quality”. Say which one is meant" in failed["error"]
    done = imported(
        judging, {"scores.jsonl": scores}, names={"quality": "verdict"}, values={"quality:1": "approve"}, version="2"
    )
    assert done["taken"] == 1
    assert (judging.source().name, judging.source().version) == ("quality (Langfuse)", "2")
    client = manager(judging)
    for body, said in (
        ({"files": []}, "There is no file"),
        ({"files": [{"name": "../a.json", "content": []}]}, "no name of a file within a folder"),
        ({"tool": "jira", "files": [{"name": "a.json", "content": []}]}, "no tool that is read"),
    ):
        refused = client.post(IMPORTS, json.dumps(body), content_type="application/json")
        assert (refused.status_code, said in refused.json()["detail"]) == (400, True)
    path = judging.folder / "a.jsonl"
    path.write_text("{}\n")
    with pytest.raises(CommandError, match="Say which tool"):
        call_command("import_answers", "acme/parser", str(path), "--trace", "t00")


def packed(folder: Path) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder.parent))
    return data.getvalue()
