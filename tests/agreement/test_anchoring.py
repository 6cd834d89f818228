"""How far people follow suggestions: the same figures in the site's report, on its page, and from files."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.actions.projects import publish_configuration
from assignments.api.suggestions import suggestion_records
from assignments.models import Suggestion
from assignments.suggestions.showing import items_for
from assignments.suggestions.taking import take_suggestions
from potato.commands.agreement import main
from tenancy.actor import acting_in
from tests.agreement.conftest import SCHEMES, Comparing

TRACES = 12


def test_people_who_see_suggestions_are_beside_people_who_do_not(
    comparing: Comparing, capsys: pytest.CaptureFixture[str]
) -> None:
    tenants = comparing.tenants
    source = {
        "task_name": "Review",
        "annotation_schemes": SCHEMES,
        "assignment": {"annotations_per_trace": 2},
        "suggestions": {"shown": True, "hidden_share": 0.5},
    }
    for number in range(TRACES):
        comparing.trace(f"t{number}")
    labels = {str(at): {"label": "correct"} for at in range(2)}
    said = {"verdict": {"decision": "request_changes"}, "process_reward": {"step_details": labels}}
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=comparing.project, source=json.dumps(source), confirmed=True)
        model = {"model": "reviewer", "model_version": "1", "annotations": said}
        records = [{"id": f"t{number}", **model} for number in range(TRACES)]
        assert take_suggestions(project=comparing.project, records=records).taken == TRACES
    shown = hidden = 0
    for person in (tenants.bob, tenants.dora):
        for _ in range(TRACES):
            assignment = comparing.claim(person)
            with acting_in(tenants.acme, person):
                items = items_for(assignment, assignment.configuration())
            # Who sees it follows it, who does not says something else.
            shown, hidden = shown + bool(items), hidden + (not items)
            answers: dict[str, Any] = {
                "inline_comments": [],
                "file_ratings": {"src/parser.py": {"correctness": 3, "quality": 3}},
                "verdict": {"decision": "request_changes" if items else "approve"},
                "process_reward": {"step_details": {str(at): {"label": "correct"} for at in range(3)}},
            }
            if items:
                acts = [{"id": item.id, "action": "accepted"} for item in items]
                assert [item.id for item in items] == [
                    "verdict/decision", "process_reward/0", "process_reward/1"
                ]  # fmt: skip
                answers["suggestions"] = {"items": acts}
            comparing.submit_annotations(assignment, answers)
    assert min(shown, hidden) > 0
    report = comparing.compute(samples=50)
    part = report.figures["suggestions"]
    assert (part["shown"], part["hidden"], part["has_few"]) == (shown, hidden, True)
    done = {one["scheme"]: one for one in part["acts"]}
    assert (done["verdict"]["accepted"], done["verdict"]["acceptance"]["value"]) == (shown, 1.0)
    assert done["process_reward"]["accepted"] == 2 * shown
    compared = {one["name"]: one for one in part["compared"]}
    # Of a run whose steps are labelled in part alone nothing is said about its first error.
    assert "first_error" not in compared
    verdicts = compared["decision"]
    assert [verdicts[name]["value"] for name in ("shown", "hidden", "difference")] == [1.0, 0.0, 1.0]
    assert (verdicts["shown"]["pairs"], verdicts["hidden"]["pairs"]) == (shown, hidden)
    labelled = compared["labels"]
    assert [labelled[name]["value"] for name in ("shown", "hidden", "difference")] == [1.0, 1.0, 0.0]
    client = Client()
    client.force_login(tenants.alice)
    page = client.get("/o/acme/p/parser/agreement/").content.decode()
    assert "Suggestions of a model" in page
    assert "Too few traces to conclude anything" in page
    with acting_in(tenants.acme, tenants.alice):
        rows = suggestion_records(list(Suggestion.objects.select_related("trace")))
    path = comparing.folder / "suggestions.jsonl"
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    archive = str(comparing.archive())
    capsys.readouterr()
    command = ["anchoring", "-i", archive, "--suggestions", str(path), "--samples", "50"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == part
    assert main(command) == 0
    assert f"{shown} annotations with suggestions shown, {hidden} with suggestions hidden" in capsys.readouterr().out


def test_a_report_of_a_project_without_suggestions_says_nothing_of_them(comparing: Comparing) -> None:
    comparing.judge_at_random(2)
    report = comparing.compute(samples=0)
    assert "suggestions" not in report.figures
