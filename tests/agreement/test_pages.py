"""The pages of a project's agreement, as a manager reads them."""

import csv
import json
import re
from io import BytesIO, StringIO

import pytest
from django.test import Client
from PIL import Image

from agreement.actions import change_rule
from agreement.models import AgreementReport
from agreement.models.rules import project_rule
from tenancy.actor import acting
from tests.agreement.conftest import Comparing
from tests.pages import text_of

PAGE = "/o/acme/p/parser/agreement/"


@pytest.fixture
def manager(comparing: Comparing) -> Client:
    client = Client()
    client.force_login(comparing.tenants.mallory)
    return client


def test_before_anything_was_computed_the_page_says_how_it_comes(comparing: Comparing, manager: Client) -> None:
    assert "Not computed yet" in text_of(manager.get(PAGE))
    comparing.trace("alone")
    comparing.judge(comparing.tenants.bob)
    comparing.compute()
    assert "No trace has two annotations yet" in text_of(manager.get(PAGE))


def test_the_button_asks_and_the_page_shows_how_far_it_is(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(3)
    assert manager.post(PAGE + "compute/").status_code == 302
    part = text_of(manager.get(PAGE + "part/"))
    assert "Computing" in part
    with acting(comparing.actor):
        report = AgreementReport.objects.get()
    comparing.done(report)
    part = text_of(manager.get(PAGE + "part/"))
    assert "Computing" not in part
    assert "Too early to say: 3 traces have two annotations." in part
    assert "3 of 30 traces" in part


def test_each_measure_has_its_value_its_interval_and_what_it_rests_on(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(12)
    report = comparing.compute()
    text = " ".join(re.sub("<[^>]*>", " ", text_of(manager.get(PAGE))).split())
    [decision] = [one for one in report.figures["compared"] if one["name"] == "decision"]
    alpha = decision["figures"]["alpha_nominal"]
    assert f"{alpha['value']:.2f} {alpha['low']:.2f} to {alpha['high']:.2f} 12 traces, 12 pairs" in text
    assert "Verdict, Krippendorff&#x27;s alpha" in text
    assert "from 24 annotations, none newer" in text


def test_what_is_not_defined_says_why(comparing: Comparing, manager: Client) -> None:
    for number in range(11):
        comparing.trace(f"t{number}")
    for person in (comparing.tenants.bob, comparing.tenants.dora):
        for _ in range(11):
            comparing.judge(person)
    comparing.compute()
    text = text_of(manager.get(PAGE))
    assert "Not defined: all 11 pairs chose the same value." in text
    assert "No pair yet: nothing of this was judged by two people." in text


def test_what_annotators_could_not_judge_stands_beside_what_they_did(comparing: Comparing, manager: Client) -> None:
    for number in range(2):
        comparing.trace(f"t{number}")
    for person in (comparing.tenants.bob, comparing.tenants.dora):
        comparing.judge(person)
    comparing.submit_annotations(comparing.claim(comparing.tenants.bob), {"cannot_judge": "I cannot read Perl."})
    unsure = {"process_reward": {"step_details": {"0": {"label": "correct"}}, "cannot_judge": {"1": "No output."}}}
    rest = {
        "inline_comments": [],
        "file_ratings": {"src/parser.py": {"cannot_judge": "Generated."}},
        "verdict": {"decision": "approve", "summary": ""},
    }
    comparing.submit_annotations(comparing.claim(comparing.tenants.dora), {**rest, **unsure})
    report = comparing.compute()
    text = " ".join(re.sub("<[^>]*>", " ", text_of(manager.get(PAGE))).split())
    assert "Annotators could not judge 1 whole trace and 1 step, and said why." in text
    assert "Annotators could not judge 1 whole trace and 1 file, and said why." in text
    told = manager.get(f"{PAGE}reports/{report.pk}/figures.md").content.decode()
    assert "\n\nVerdict: Annotators could not judge 1 whole trace, and said why.\n\n" in told


def test_a_number_of_the_matrix_opens_the_traces_of_these_choices(comparing: Comparing, manager: Client) -> None:
    for name in ("same", "other"):
        comparing.trace(name)
    for person in (comparing.tenants.bob, comparing.tenants.dora):
        comparing.judge(person)
        comparing.judge(person, "approve" if person == comparing.tenants.bob else "request_changes")
    report = comparing.compute()
    page = manager.get(PAGE).content.decode()
    number = [one["name"] for one in report.figures["compared"]].index("decision")
    address = f"traces/?report={report.pk}&amp;on={number}&amp;of=approve&amp;of=request_changes"
    assert address in page
    opened = text_of(manager.get(PAGE + address.replace("&amp;", "&")))
    assert "Verdict: Approve and Request Changes" in opened
    assert "other" in opened
    assert "same" not in opened.replace("the same", "")
    for strange in ("traces/", f"traces/?report={report.pk}&on=99&of=a", f"traces/?report={report.pk}&on=0&of=nothing"):
        assert manager.get(PAGE + strange).status_code == 404


def test_figures_are_files_as_json_csv_svg_and_png(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(12)
    report = comparing.compute()
    address = f"{PAGE}reports/{report.pk}/"
    assert json.loads(manager.get(address + "figures.json").content) == report.figures
    assert manager.get(address + "figures.json").content.decode() == report.text
    lines = list(csv.DictReader(StringIO(manager.get(address + "figures.csv").content.decode())))
    assert {line["kind"] for line in lines} >= {
        "overall",
        "pair",
        "against the rest",
        "position",
        "agent_model",
        "week",
    }
    plots = [part.split('"')[0] for part in manager.get(PAGE).content.decode().split(address)[1:]]
    assert len([name for name in plots if name.endswith(".svg")]) >= 2
    for name in plots:
        answer = manager.get(address + name)
        assert answer.status_code == 200, name
        if name.endswith(".svg"):
            assert answer.content.startswith(b"<svg xmlns")
        if name.endswith(".png"):
            assert Image.open(BytesIO(answer.content)).width == 1280
        if name.endswith(".md"):
            assert "| --- | ---:" in answer.content.decode()
    assert manager.get(address + "nothing.svg").status_code == 404


def test_a_report_is_passed_on_as_markdown(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(12)
    report = comparing.compute()
    text = manager.get(f"{PAGE}reports/{report.pk}/figures.md").content.decode()
    assert text.startswith("# Agreement of parser\n\n24 annotations, 12 traces judged by two people or more")
    [decision] = [one for one in report.figures["compared"] if one["name"] == "decision"]
    alpha = decision["figures"]["alpha_nominal"]
    interval = f"{alpha['low']:.2f} to {alpha['high']:.2f}"
    assert f"| Verdict, Krippendorff's alpha | {alpha['value']:.2f} | {interval} | 12 traces, 12 pairs |\n" in text
    assert "\n## Each person against the rest: " in text
    assert "\n| bob | " in text


def test_history_keeps_every_report_and_draws_them(comparing: Comparing, manager: Client) -> None:
    comparing.judge_at_random(10)
    first = comparing.compute()
    comparing.judge_at_random(3, seed=2)
    comparing.compute()
    text = text_of(manager.get(PAGE + "history/"))
    assert "All reports so far" in text
    assert "Requested by alice" in text
    assert "20" in text
    assert "26" in text
    earlier = text_of(manager.get(f"{PAGE}?report={first.pk}"))
    assert "from 20 annotations" in earlier
    assert "The newest" in earlier


def test_a_manager_says_when_it_is_computed(comparing: Comparing, manager: Client) -> None:
    sent = {"by_annotations": "1", "every": "20", "tell": "1", "threshold": "0.5", "watched": ""}
    assert manager.post(PAGE + "history/", sent).status_code == 302
    with acting(comparing.actor):
        rule = project_rule(comparing.project)
        assert (rule.every, float(rule.threshold or 0)) == (20, 0.5)
    assert manager.post(PAGE + "history/", {}).status_code == 302
    with acting(comparing.actor):
        rule = project_rule(comparing.project)
        assert (rule.every, rule.threshold) == (0, None)
    refused = manager.post(PAGE + "history/", {**sent, "threshold": "much"})
    assert refused.status_code == 400
    assert "The threshold must be a number from 0 to 1" in text_of(refused, 400)
    assert manager.post(PAGE + "history/", {**sent, "threshold": "1.2"}).status_code == 400
    assert manager.post(PAGE + "history/", {**sent, "every": "few"}).status_code == 400


def test_a_failed_computation_stands_above_the_figures_before(
    comparing: Comparing, manager: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparing.judge_at_random(2)
    comparing.compute()

    def refuse(*_: object) -> None:
        raise ValueError("too many annotators")

    monkeypatch.setattr("potato.statistics.agreement.report.compare_in", refuse)
    comparing.compute()
    text = text_of(manager.get(PAGE))
    assert "The last computation ended without figures: These annotations cannot be compared: too many" in text
    assert "How far people agree" in text


def test_an_annotator_sees_no_agreement(comparing: Comparing) -> None:
    client = Client()
    client.force_login(comparing.tenants.bob)
    assert client.get(PAGE).status_code == 403
    with acting(comparing.actor):
        change_rule(project=comparing.project, every=None, threshold=None)
