"""Reports of a part of a project's annotations: asked for, kept, shown, and apart from the project's own."""

import json
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from agreement.actions import change_rule, request_report
from agreement.filters import UnfitFilters
from agreement.models import AgreementReport
from agreement.reports import newest_report
from assignments.models import Batch, TraceQuota
from jobs.models import OutboxEvent
from potato.commands.agreement import main
from tenancy.actor import acting, acting_in
from tests.agreement.conftest import Comparing
from tests.pages import text_of

PAGE = "/o/acme/p/parser/agreement/"
API = "/o/acme/api/v1"
OF_MODEL_B = {"agent_models": ["model-b"]}


@pytest.fixture
def manager(comparing: Comparing) -> Client:
    client = Client()
    client.force_login(comparing.tenants.mallory)
    return client


@pytest.fixture
def two_models(comparing: Comparing) -> Comparing:
    """Three people judge four traces; on those of model-b dora differs, and mallory alone judges with bob there. The
    last one is in the second batch when it is judged, and in the first one now."""
    comparing.publish(target=3)
    for number, model in enumerate(["model-a", "model-a", "model-b", "model-b"]):
        comparing.trace(f"t{number}", model, tags=["long"] if number == 3 else [])
    first = comparing.put_into_second_batch("t3")
    for person in (comparing.tenants.bob, comparing.tenants.dora, comparing.tenants.mallory):
        for number in range(4):
            differs = person == comparing.tenants.dora and number >= 2
            comparing.judge(person, "request_changes" if differs else "approve", labels="cci" if differs else "ccc")
    with acting(comparing.actor):
        TraceQuota.objects.update(batch=first)
    return comparing


def asked(comparing: Comparing, **filters: Any) -> AgreementReport:
    with acting_in(comparing.tenants.acme, comparing.tenants.alice):
        report = request_report(project=comparing.project, settings={"samples": 20}, filters=filters)
    return comparing.done(report)


def test_a_report_is_of_what_its_filters_let_pass(two_models: Comparing) -> None:
    today = timezone.now().date().isoformat()
    expected: list[tuple[dict[str, Any], int, int, int]] = [
        (OF_MODEL_B, 6, 3, 2),
        ({"tags": "long"}, 3, 3, 1),
        ({"annotators": ["bob", "dora"]}, 8, 2, 4),
        ({"batches": ["Second, small"]}, 3, 3, 1),
        ({"batches": ["Second, small"], "agent_models": "model-b", "annotators": "bob,dora"}, 2, 2, 1),
        ({"batches": ["1"], "agent_models": "model-b"}, 3, 3, 1),
        ({"made_from": today, "made_until": "2999-01-01"}, 12, 3, 4),
        ({"made_until": "2000-01-01"}, 0, 0, 0),
    ]
    for filters, annotations, annotators, shared in expected:
        figures = asked(two_models, **filters).figures
        assert (figures["annotations"], figures["annotators"], figures["shared_traces"]) == (
            annotations,
            annotators,
            shared,
        ), filters
        assert figures["filters"].keys() == filters.keys()


def test_the_figures_are_those_of_the_same_records_offline(
    two_models: Comparing, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = two_models.archive()
    for filters in (OF_MODEL_B, {"annotators": ["dora", "bob"], "tags": ["long"]}, {"batches": ["2"]}):
        flags = [word for name, values in filters.items() for word in (f"--{name.replace('_', '-')}", ",".join(values))]
        capsys.readouterr()
        assert main(["agreement", "-i", str(archive), "--json", "--samples", "20", *flags]) == 0
        offline = json.loads(capsys.readouterr().out)
        stored = asked(two_models, **filters).figures
        for each in (*offline["compared"], *stored["compared"]):
            each["groups"].pop("source_file", None)  # an archive does not name imported files
        assert offline["compared"] == stored["compared"]
        assert offline["filters"] == stored["filters"] == {name: sorted(values) for name, values in filters.items()}


def test_a_report_of_a_part_is_apart_from_the_projects_own(two_models: Comparing, manager: Client) -> None:
    whole = two_models.compute()
    with acting(two_models.actor):
        change_rule(project=two_models.project, every=0, threshold=Decimal("0.99"), watched="verdict/decision")
    part = asked(two_models, **OF_MODEL_B)
    with acting(two_models.actor):
        assert newest_report(two_models.project) == whole
        assert newest_report(two_models.project, OF_MODEL_B) == part
        assert not OutboxEvent.objects.filter(topic="agreement.below_threshold").exists()
    history = text_of(manager.get(PAGE + "history/"))
    assert str(whole.pk) in history
    assert str(part.pk) not in history
    address = f"{API}/projects/parser/agreement/"
    assert [one["id"] for one in manager.get(address).json()["results"]] == [str(whole.pk)]
    [listed] = manager.get(address + "?filtered=yes").json()["results"]
    assert (listed["id"], listed["filters"]["agent_models"]) == (str(part.pk), ["model-b"])


def test_the_page_asks_for_a_part_shows_it_and_names_it(two_models: Comparing, manager: Client) -> None:
    two_models.compute()
    address = PAGE + "?agent_models=model-b"
    before = text_of(manager.get(address))
    assert "Not computed for this choice yet" in before
    assert 'name="agent_models" value="model-b" checked' in manager.get(address).content.decode()
    answer = manager.post(PAGE + "compute/", OF_MODEL_B)
    assert answer.headers["Location"].endswith("?agent_models=model-b")
    with acting(two_models.actor):
        report = AgreementReport.objects.get(filters=OF_MODEL_B)
    assert "Computing" in text_of(manager.get(PAGE + "part/?agent_models=model-b"))
    two_models.done(report)
    page = manager.get(address)
    shown = text_of(page)
    assert "Only agent model-b." in shown
    assert "from 6 annotations, none newer" in shown
    assert "agent_models=model-b" in page.content.decode().split('aria-label="Compared by"')[1].split("</nav>")[0]
    assert "from 12 annotations, none newer" in text_of(manager.get(PAGE)), "The project's own figures stay"
    named = manager.get(f"{PAGE}reports/{report.pk}/figures.md")
    assert "of agent model-b alone" in named.content.decode()
    assert "-part-" in named.headers["Content-Disposition"]
    assert "Only agent model-b." in text_of(manager.get(f"{PAGE}?report={report.pk}"))


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"batches": "Nowhere"}, "has no batch 'Nowhere'"),
        ({"made_from": "yesterday"}, "made_from: This is no day. Write it as 2026-11-22."),
        ({"pseudonyms": "yes"}, "There is no filter 'pseudonyms'. Known: batches, agent_models"),
    ],
)
def test_what_is_no_filter_is_refused_with_a_sentence(
    comparing: Comparing, manager: Client, filters: dict[str, str], words: str
) -> None:
    with acting_in(comparing.tenants.acme, comparing.tenants.alice), pytest.raises(UnfitFilters, match=words):
        request_report(project=comparing.project, filters=filters)
    if "pseudonyms" not in filters:
        page = text_of(manager.get(PAGE, filters))
        assert words.replace("'", "&#x27;") in page
        flags = [word for name, value in filters.items() for word in (f"--{name.replace('_', '-')}", value)]
        with pytest.raises(CommandError, match=words):
            call_command("agreement", "--project", "acme/parser", *flags)


def test_a_program_and_a_command_ask_for_a_part(two_models: Comparing, manager: Client) -> None:
    address = f"{API}/projects/parser/agreement/"
    body = {"samples": 20, "filters": {"agent_models": ["model-b"], "annotators": ["dora", "bob"]}}
    answer = manager.post(address, body, content_type="application/json")
    assert answer.status_code == 202, answer.content
    with acting(two_models.actor):
        report = two_models.kept(AgreementReport.objects.get())
    figures = two_models.done(report).figures
    assert figures["annotations"] == 4
    shown = manager.get(answer.headers["Location"]).json()
    assert shown["filters"]["annotators"] == ["bob", "dora"]
    out = StringIO()
    call_command(
        "agreement", "--project", "acme/parser", "--samples", "20", "--agent-models", "model-b", "--annotators",
        "dora,bob", stdout=out,
    )  # fmt: skip
    said = out.getvalue()
    assert said.startswith("Of annotations of agent model-b, by bob or dora alone:")
    with acting(two_models.actor):
        first, second = (one.text for one in AgreementReport.objects.order_by("requested_at"))
    assert first == second
    call_command("agreement", "--project", "acme/parser", "--check", str(report.pk), stdout=out)
    assert "The same" in out.getvalue()


def test_a_batch_that_has_another_name_by_then_ends_the_computation_with_a_sentence(two_models: Comparing) -> None:
    with acting(two_models.actor):
        batch = Batch.objects.for_project(two_models.project).get(number=1)
        Batch.objects.filter(pk=batch.pk).update(name="First")
    with acting_in(two_models.tenants.acme, two_models.tenants.alice):
        report = request_report(project=two_models.project, filters={"batches": ["First"]})
    with acting(two_models.actor):
        Batch.objects.filter(pk=batch.pk).update(name="Pilot")
    job = two_models.work(report)
    assert (job.state, "has no batch 'First'" in job.error) == ("failed", True)
