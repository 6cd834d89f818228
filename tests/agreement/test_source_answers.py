"""A source's answers come in, are checked as people's are, take no place, and leave with no person's annotations."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client

from accounts.actions.projects import publish_configuration
from agreement.models import Source, SourceAnswer, SourceReport
from agreement.sources.actions import NoSuchTraces, request_answers, send_to_people
from agreement.sources.comparing import NotComparable, request_comparison
from agreement.sources.of_tool import NoAnswers
from assignments.actions.quotas import follow_configuration
from assignments.models import Submission, TraceQuota
from jobs.models import Job, JobState
from tenancy.actor import acting, acting_in
from tests.agreement.judging import JUDGE, SCHEMES, Judging, answer, comment, lines

SAID = {f"t{number:02}": "approve" if number % 3 else "request_changes" for number in range(6)}


def send(judging: Judging, *records: Any) -> Any:
    """The API's answer to these records."""
    client = Client()
    client.force_login(judging.tenants.mallory)
    return client.post(
        "/o/acme/api/v1/projects/parser/sources/answers/",
        json.dumps({"answers": list(records)}),
        content_type="application/json",
    )


def test_answers_that_are_sent_are_kept_and_sent_again_they_are_known(judging: Judging) -> None:
    judging.begin(2)
    records = [
        answer("t00", "approve"),
        answer("t01", "request_changes", comment(15), timestamp="2026-03-01T10:00:00Z"),
    ]
    first = send(judging, *records).json()
    assert (first["taken"], first["known"], first["refused"]) == (2, 0, [])
    again = send(judging, *records).json()
    assert (again["taken"], again["known"], again["sources"]) == (0, 2, first["sources"])
    source = judging.source()
    assert (source.name, source.model, source.version, source.kind) == ("judge-a", "large-1", "3.1", "llm_judge")
    client = Client()
    client.force_login(judging.tenants.mallory)
    kept = client.get(f"/o/acme/api/v1/sources/{source.pk}/answers/").json()["results"]
    assert [one["id"] for one in kept] == ["t00", "t01"]
    assert all(one["source"] == JUDGE and "annotator" not in one for one in kept)
    assert kept[1]["annotations"]["inline_comments"][0]["line_start"] == 15
    assert kept[1]["timestamp"] == "2026-03-01T10:00:00Z"


@pytest.mark.parametrize(
    ("record", "field", "said"),
    [
        ({"id": "t99"}, "id", "parser has no trace 't99'. Import the trace first"),
        ({"id": "t00", "trace_version": 2}, "id", "no version 2 of the trace 't00'"),
        ({"id": "t00", "trace_version": "2"}, "trace_version", "must be a whole number"),
        ({"id": 4}, "id", "must be the text that names the trace"),
        ({"annotations": {}}, "annotations", "must be an object with answers to inline_comments or verdict"),
        ({"annotations": {"rating": 1}}, "annotations.rating", "'rating' is not a scheme of this project"),
        (
            {"annotations": {"verdict": {"decision": "maybe"}}},
            "annotations.verdict.decision",
            "maybe",
        ),
        (
            {"annotations": {"inline_comments": [comment(900)]}},
            "annotations.inline_comments.0",
            "900",
        ),
        ({"source": None}, "source", "say who answered"),
        ({"source": {"name": "judge-a"}}, "source.version", "The source needs a version"),
        ({"source": {**JUDGE, "kind": "human"}}, "source.kind", "kind of the source must be one of llm_judge"),
        ({"source": {**JUDGE, "temperature": 1}}, "source.temperature", "is not a key of source"),
        ({"timestamp": "yesterday"}, "timestamp", "must be in UTC"),
        ({"score": 1}, "score", "'score' is not a key of a record"),
    ],
)
def test_what_cannot_be_taken_is_named_by_place_and_field(
    judging: Judging, record: dict[str, Any], field: str, said: str
) -> None:
    judging.begin(2)
    wrong = {**answer("t00", "approve"), **record}
    told = send(judging, answer("t01", "approve"), wrong).json()
    assert told["taken"] == 1, "one bad record keeps no other one out"
    (problem,) = told["refused"]
    assert problem["place"] == 2
    assert problem["field"].startswith(field)
    assert said in problem["sentence"]


def test_an_answer_never_changes_and_another_version_is_another_source(judging: Judging) -> None:
    judging.begin(1)
    assert send(judging, answer("t00", "approve")).json()["taken"] == 1
    (problem,) = send(judging, answer("t00", "request_changes")).json()["refused"]
    assert "judge-a 3.1 has given another answer for t00 already" in problem["sentence"]
    newer = {**JUDGE, "version": "3.2"}
    assert send(judging, answer("t00", "request_changes", source=newer)).json()["taken"] == 1
    with acting(judging.actor):
        assert Source.objects.count() == 2
        with pytest.raises(DatabaseError), transaction.atomic():
            SourceAnswer.objects.update(given_sha256="0" * 64)


def test_a_source_takes_no_place_is_no_annotator_and_is_in_no_export(judging: Judging) -> None:
    judging.begin(2, target=1)
    send(judging, answer("t00", "approve"), answer("t01", "approve"))
    judging.work()
    with acting(judging.actor):
        assert not Submission.objects.exists()
        assert not TraceQuota.objects.filter(done__gt=0).exists()
    with pytest.raises(CommandError, match="selects nothing"):
        call_command("export", "--project", "acme/parser", "-f", "code_review", "-o", str(judging.folder / "out.jsonl"))
    judging.person_says(judging.tenants.bob, {"t00": "approve", "t01": "approve"})
    call_command("export", "--project", "acme/parser", "-f", "code_review", "-o", str(judging.folder / "out.jsonl"))
    left = (judging.folder / "out.jsonl").read_text().splitlines()
    assert [json.loads(line)["annotator"] for line in left] == ["bob", "bob"]
    client = Client()
    client.force_login(judging.tenants.bob)
    for address in ("sources/", "agreement/machines/"):
        where = f"/o/acme/api/v1/projects/parser/{address}" if address == "sources/" else f"/o/acme/p/parser/{address}"
        assert client.get(where).status_code == 403, "annotators never see them"


def test_a_file_comes_in_line_by_line_and_bad_lines_say_where(judging: Judging, settings: Any) -> None:
    judging.begin(3)
    good = lines([answer("t00", "approve"), answer("t01", "approve")])
    content = good + b'{"id": "t02", \n\n' + lines([answer("t09", "approve"), answer("t02", "approve")])
    with acting(judging.actor):
        job = request_answers(project=judging.project, content=ContentFile(content, "answers.jsonl"))
    stored_as = job.parameters["stored_as"]
    assert default_storage.exists(stored_as)
    judging.work()
    with acting(judging.actor):
        job = Job.objects.get(pk=job.pk)
    assert (job.state, job.result["taken"], job.result["refused"]) == (JobState.DONE, 3, 2)
    assert [place for place, _, _ in job.result["problems"]] == [3, 5]
    assert "not JSON" in job.result["problems"][0][2]
    with acting(judging.actor):
        assert SourceReport.objects.computed().count() == 1, "compared by itself"


def test_a_killed_worker_takes_no_answer_twice(
    judging: Judging, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.JOBS_TASK_BUDGET_SECONDS = 0
    monkeypatch.setattr("agreement.sources.importing.LINES_A_PART", 2)
    judging.begin(5)
    content = lines(answer(f"t{number:02}", "approve") for number in range(5))
    with acting(judging.actor):
        job = request_answers(project=judging.project, content=ContentFile(content, "answers.jsonl"))
    judging.work()
    with acting(judging.actor):
        job = Job.objects.get(pk=job.pk)
        assert (job.result["taken"], job.result["known"], job.attempts) == (5, 0, 3)
        assert SourceAnswer.objects.count() == 5


def test_a_file_of_nothing_usable_fails_with_its_first_reason(judging: Judging) -> None:
    judging.begin(1)
    content = lines([answer("t77", "approve"), answer("t78", "approve")])
    with acting(judging.actor):
        with pytest.raises(NoAnswers, match="is empty"):
            request_answers(project=judging.project, content=ContentFile(b"", "answers.jsonl"))
        job = request_answers(project=judging.project, content=ContentFile(content, "answers.jsonl"))
    judging.work()
    with acting(judging.actor):
        job = Job.objects.get(pk=job.pk)
    assert job.state == JobState.FAILED
    assert "Line 1, id: parser has no trace 't77'" in job.error
    assert "1 more lines were refused" in job.error


def test_the_command_imports_and_says_how_the_source_stands(
    judging: Judging, capsys: pytest.CaptureFixture[str]
) -> None:
    judging.begin(6)
    judging.people_say(SAID)
    path = judging.folder / "judge.jsonl"
    records = [{key: value for key, value in answer(name, "approve").items() if key != "source"} for name in SAID]
    path.write_bytes(lines([*records, answer("t99", "approve")]))
    call_command("import_answers", "acme/parser", str(path), "--source", "judge-b", "--source-version", "1")
    told = capsys.readouterr()
    assert "judge.jsonl: 6 answers taken, 0 known, 1 refused." in told.out
    assert "judge.jsonl: Line 7, id: parser has no trace 't99'" in told.err
    assert "judge-b 1 can be compared on 6 runs alone, too few" in told.out
    with pytest.raises(CommandError, match="--strict"):
        call_command(
            "import_answers", "acme/parser", str(path), "--source", "judge-b", "--source-version", "1", "--strict"
        )
    with pytest.raises(CommandError, match="The source needs a version"):
        call_command("import_answers", "acme/parser", str(path), "--source", "judge-b")


def test_a_project_without_a_configuration_takes_no_answers(judging: Judging) -> None:
    client = Client()
    client.force_login(judging.tenants.alice)
    where = "/o/acme/api/v1/projects/parser/sources/answers/"
    refused = client.post(where, json.dumps({"answers": [answer("t00", "approve")]}), content_type="application/json")
    assert refused.status_code == 409
    assert "has no published configuration" in refused.json()["detail"]


# --- the report ---


def compared(judging: Judging) -> dict[str, Any]:
    """Ten runs: people reject four, and the judge lets two of them pass."""
    said = {f"t{number:02}": "request_changes" if number < 4 else "approve" for number in range(12)}
    judging.begin(12)
    judging.people_say(said)
    kind = {**said, "t00": "approve", "t01": "approve", "t11": "request_changes"}
    comments = {"t02": [comment(16)], "t03": [comment(50)]}
    records = [answer(name, decision, *comments.get(name, [])) for name, decision in kind.items()]
    assert send(judging, *records).json()["taken"] == 12
    judging.work()
    figures: dict[str, Any] = judging.report(judging.source()).figures
    return figures


def test_the_report_counts_what_the_judge_lets_pass(judging: Judging) -> None:
    figures = compared(judging)
    assert figures["headline"] == "judge-a 3.1 is too kind: it lets pass 50% of runs that people reject."
    comments, verdicts = figures["schemes"]
    (values,) = verdicts["values"]
    assert values["confusion"][0][0] == 7
    assert values["rates"]["sensitivity"]["value"] == 0.875
    assert values["rates"]["specificity"]["value"] == 0.5
    assert values["comparable"] == 12
    assert values["rates"]["corrected"]["value"] is None or values["rates"]["corrected"]["low"] is not None
    assert {one["is_too_kind"] for one in values["differences"]} == {True, False}
    assert figures["missed_categories"] == {"bug": 2}
    assert comments["places"]["precision"]["value"] == 0.5
    assert comments["places"]["traces"] == 2
    assert sorted(values["by_model"]) == ["model-0", "model-1"]


def test_the_same_answers_give_the_same_report(judging: Judging) -> None:
    first = compared(judging)
    with acting(judging.actor):
        request_comparison(source=judging.source())
    judging.work()
    report = judging.report(judging.source())
    assert report.figures == first
    with acting(judging.actor):
        assert SourceReport.objects.count() == 2, "each is kept"


def test_what_a_comparison_cannot_be_is_refused(judging: Judging) -> None:
    judging.begin(1)
    send(judging, answer("t00", "approve"))
    source = judging.source()
    with acting(judging.actor):
        with pytest.raises(NotComparable, match="method must be one of dawid_skene"):
            request_comparison(source=source, method="mean")
        with pytest.raises(NotComparable, match=r"from 0\.5 to 1"):
            request_comparison(source=source, sure=0.2)


def test_differences_are_sent_to_people_through_the_queue(judging: Judging) -> None:
    judging.begin(2, target=1)
    judging.person_says(judging.tenants.bob, {"t00": "approve", "t01": "approve"})
    send(judging, answer("t00", "request_changes"), answer("t01", "approve"))
    judging.work()
    source = judging.source()
    with acting(judging.actor):
        figures = judging.report(source).figures
        (difference,) = figures["schemes"][-1]["values"][0]["differences"] or [None]
    assert difference is not None
    client = Client()
    client.force_login(judging.tenants.mallory)
    where = f"/o/acme/api/v1/sources/{source.pk}/send/"
    sent = client.post(where, json.dumps({"traces": [difference["trace"]]}), content_type="application/json")
    assert sent.json() == {"traces": 1}
    with acting(judging.actor):
        quota = TraceQuota.objects.get(trace__external_id="t00")
        assert (quota.target, quota.extra, quota.slots) == (2, 1, 2)
        assert TraceQuota.objects.get(trace__external_id="t01").target == 1
    assignment = judging.claim(judging.tenants.dora)
    assert assignment.trace.external_id == "t00"
    # A later version that wants two of each leaves the one more of this trace.
    with acting_in(judging.tenants.acme, judging.tenants.alice):
        publish_configuration(
            project=judging.project,
            source=json.dumps(
                {
                    "task_name": "Review",
                    "annotation_schemes": SCHEMES,
                    "assignment": {"annotations_per_trace": 2},
                }
            ),
            confirmed=True,
        )
        follow_configuration(project=judging.project)
    with acting(judging.actor):
        targets = dict(TraceQuota.objects.values_list("trace__external_id", "target"))
    assert targets == {"t00": 3, "t01": 2}


def test_only_traces_that_the_source_answered_are_sent(judging: Judging) -> None:
    (_, other) = judging.begin(2)
    send(judging, answer("t00", "approve"))
    with acting(judging.actor):
        with pytest.raises(NoSuchTraces, match="not among those that this source answered"):
            send_to_people(source=judging.source(), traces=[other.pk])
        with pytest.raises(NoSuchTraces, match="from 1 to 1,000"):
            send_to_people(source=judging.source(), traces=[])
    refused = Client()
    refused.force_login(judging.tenants.mallory)
    where = f"/o/acme/api/v1/sources/{judging.source().pk}/send/"
    assert refused.post(where, json.dumps({"traces": ["t00"]}), content_type="application/json").status_code == 400
