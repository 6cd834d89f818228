"""Where two people differ a manager asks a third one, sees that it was asked, and takes it back."""

import re
from uuid import UUID

import pytest
from django.test import Client

from accounts.models import AuditEvent
from agreement.third_person import UnfitTraces, request_third_annotator, take_back
from assignments.models import TraceQuota
from tenancy.actor import acting
from tests.agreement.conftest import Comparing
from tests.pages import text_of

PAGE = "/o/acme/p/parser/agreement/"
API = "/o/acme/api/v1/projects/parser/agreement/third-person/"


@pytest.fixture
def manager(comparing: Comparing) -> Client:
    client = Client()
    client.force_login(comparing.tenants.mallory)
    return client


@pytest.fixture
def differing(comparing: Comparing) -> Comparing:
    """Of three traces bob accepts all, and dora one."""
    for number in range(3):
        comparing.trace(f"t{number}")
    for _ in range(3):
        comparing.judge(comparing.tenants.bob, "approve")
    for decision in ("approve", "request_changes", "request_changes"):
        comparing.judge(comparing.tenants.dora, decision)
    comparing.compute()
    return comparing


def wanted(comparing: Comparing) -> list[int]:
    with acting(comparing.actor):
        return list(TraceQuota.objects.order_by("trace__external_id").values_list("extra", flat=True))


def ids(comparing: Comparing) -> list[str]:
    with acting(comparing.actor):
        return [str(pk) for pk in TraceQuota.objects.order_by("trace__external_id").values_list("trace", flat=True)]


def test_from_the_confusion_to_a_third_person_and_back(differing: Comparing, manager: Client) -> None:
    page = text_of(manager.get(PAGE))
    address = re.search(r'href="([^"]*)"[^>]*>(?:(?!</a>).)*Ask a third person', page)
    assert address is not None
    list_address = address[1].replace("&amp;", "&")
    listed = text_of(manager.get(list_address))
    traces = re.findall(r'name="trace" value="([^"]*)" checked', listed)
    assert len(traces) == 2, "the two on which they differ"
    assert "Take back" not in listed
    named = {name: re.findall(f'name="{name}" value="([^"]*)"', listed) for name in ("report", "on", "of")}

    asked = manager.post(f"{PAGE}traces/ask/", {"trace": traces, **named}, follow=True)
    assert asked.redirect_chain == [(list_address, 302)]
    assert "2 traces are given to one annotator more each." in text_of(asked)
    assert text_of(asked).count("1 person more asked for") == 2
    assert sorted(wanted(differing)) == [0, 1, 1]

    # Somebody takes one of the two: that one stays.
    differing.judge(differing.tenants.alice, "approve")
    back = manager.post(f"{PAGE}traces/ask/", {"trace": traces, "take_back": "1", **named}, follow=True)
    assert "1 trace is no longer given to one annotator more. The rest was not asked for" in text_of(back)
    assert sorted(wanted(differing)) == [0, 0, 1]
    with acting(differing.actor):
        verbs = list(AuditEvent.objects.filter(verb__startswith="traces.third-person").values_list("verb", flat=True))
    assert sorted(verbs) == ["traces.third-person-asked", "traces.third-person-taken-back"]


def test_programs_ask_and_take_back(differing: Comparing, manager: Client) -> None:
    body = {"traces": ids(differing)[:1]}
    asked = manager.post(API, body, content_type="application/json")
    assert (asked.status_code, asked.json()) == (200, {"traces": 1})
    assert wanted(differing) == [1, 0, 0]
    back = manager.post(API, {**body, "take_back": True}, content_type="application/json")
    assert back.json() == {"traces": 1}
    assert wanted(differing) == [0, 0, 0]
    assert manager.post(API, {**body, "take_back": True}, content_type="application/json").json() == {"traces": 0}


def test_what_is_no_trace_of_the_project_is_refused(differing: Comparing, manager: Client) -> None:
    with acting(differing.actor):
        for traces, words in (
            ([], "Choose from 1 to 1,000 traces."),
            (["first"], "A trace is named by its id"),
            ([str(UUID(int=1))], "A chosen trace is not in this project."),
        ):
            for act in (request_third_annotator, take_back):
                with pytest.raises(UnfitTraces, match=re.escape(words)):
                    act(project=differing.project, traces=traces)
    assert "Choose from 1 to 1,000 traces." in text_of(
        manager.post(f"{PAGE}traces/ask/", follow=False) and manager.get(PAGE)
    )


def test_an_annotator_may_not_ask(differing: Comparing) -> None:
    client = Client()
    client.force_login(differing.tenants.bob)
    assert client.post(f"{PAGE}traces/ask/", {"trace": ids(differing)}).status_code == 403
    assert wanted(differing) == [0, 0, 0]
