"""The admin answers what nobody's page sends, and what two people send at once, without an error of the site."""

import pytest
from django.test import Client

from accounts.actions.projects import save_draft
from accounts.models import Membership, Project
from accounts.textdiff import unified_rows
from tenancy.actor import acting_in
from tests.tenants import Tenants


def configuration_path(tenants: Tenants) -> str:
    return f"/o/acme/admin/accounts/project/{tenants.acme_project.pk}/configuration/"


@pytest.mark.parametrize("action", ["save", "publish", "discard"])
def test_who_lost_against_another_save_cannot_overwrite_it_by_sending_the_answer_again(
    tenants: Tenants, client: Client, action: str
) -> None:
    client.force_login(tenants.dora)
    sent = {"source": "task_name: Mine\n", "revision": "0", "action": action}
    with acting_in(tenants.acme, tenants.alice):
        save_draft(project=tenants.acme_project, source="task_name: Theirs\n", revision=0)
    for _ in range(2):
        answer = client.post(configuration_path(tenants), sent)
        assert answer.status_code == 409
        assert "task_name: Mine" in answer.content.decode()
        sent["revision"] = str(answer.context["revision"])
    with acting_in(tenants.acme):
        assert Project.objects.get().draft == "task_name: Theirs\n"


def test_a_taken_slug_is_said_in_the_form(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    answer = client.post("/o/acme/admin/accounts/project/add/", {"name": "Again", "slug": "parser"})
    assert answer.status_code == 400
    assert "Another project has this address." in answer.content.decode()
    client.post("/o/acme/admin/accounts/project/add/", {"name": "Other", "slug": "other"})
    with acting_in(tenants.acme):
        other = Project.objects.get(slug="other")
    answer = client.post(f"/o/acme/admin/accounts/project/{other.pk}/change/", {"name": "Other", "slug": "parser"})
    assert "Another project has this address." in answer.content.decode()


def test_a_taken_annotator_name_is_said_in_the_form_whatever_its_case(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    with acting_in(tenants.acme):
        bob = Membership.objects.get(user=tenants.bob)
    path = f"/o/acme/admin/accounts/membership/{bob.pk}/change/"
    answer = client.post(path, {"role": "annotator", "annotator_name": "MALLORY", "is_active": "on"})
    assert answer.status_code == 200
    assert "Another member has this annotator name." in answer.content.decode()


def test_an_admin_sees_an_owner_as_an_owner_and_changes_nothing(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    with acting_in(tenants.acme):
        owner = Membership.objects.get(user=tenants.alice)
    path = f"/o/acme/admin/accounts/membership/{owner.pk}/change/"
    page = client.get(path).content.decode()
    assert "Owner" in page
    assert 'name="role"' not in page
    assert client.post(path, {"role": "admin", "annotator_name": "alice", "is_active": "on"}).status_code == 403


@pytest.mark.parametrize(
    "query",
    [
        "accounts/auditevent/?verb__regex=(",
        "accounts/auditevent/?verb__iregex=(a+)+$",
        "accounts/auditevent/?verb=%00",
        "accounts/auditevent/?q=%00",
        "accounts/auditevent/?at__year=99999999999999999999",
        "traces/importedfile/?added_at__year=2026&added_at__month=99999999999999999999",
        "accounts/auditevent/?person__password__startswith=a",
        "accounts/membership/?user__password__regex=a",
        "jobs/job/?error__regex=(",
        "jobs/job/?created_by__memberships__organisation__slug=birch",
    ],
)
def test_a_query_that_no_page_makes_is_a_bad_request(tenants: Tenants, client: Client, query: str) -> None:
    client.force_login(tenants.dora)
    assert client.get(f"/o/acme/admin/{query}").status_code in {302, 400}


def test_a_nul_that_a_page_looks_for_is_a_bad_request(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    answer = client.get("/o/acme/people/?q=%00")
    assert answer.status_code == 400
    assert "U+0000" in answer.content.decode()


@pytest.mark.parametrize("chosen", ["garbage", "1", "\0", "00000000-0000-0000-0000-000000000000"])
def test_a_choice_that_no_page_offers_is_no_error_of_the_site(tenants: Tenants, client: Client, chosen: str) -> None:
    client.force_login(tenants.dora)
    sent = {"action": "cancel", "_selected_action": chosen}
    assert client.post("/o/acme/admin/jobs/job/", sent).status_code in {200, 302, 400}


def test_a_history_link_carries_no_other_parameter(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    answer = client.get("/o/acme/admin/accounts/project/x%26a=b/history/")
    assert answer["Location"].endswith("?target_id=x%26a%3Db")


def test_large_texts_are_compared_within_bounds() -> None:
    old, new = "a\n" + "#\n" * 50_000, "b\n" + "#\n" * 50_000 + "# x\n"
    rows = unified_rows(old, new)
    assert len(rows) == 4_001
    assert rows[-1].kind == "gap"


@pytest.mark.parametrize("body", [b"[" * 4000 + b"]" * 4000, b"NaN", b"\xff", b"{"])
def test_a_report_that_is_none_is_refused(client: Client, db: None, body: bytes) -> None:
    assert client.post("/csp-report/", body, content_type="application/csp-report").status_code == 400


def test_static_files_stand_outside_every_organisation(client: Client, db: None) -> None:
    assert client.get("/static/css/tokens.css").status_code == 200
    assert client.get("/o/acme/static/css/tokens.css").status_code in {302, 404}
