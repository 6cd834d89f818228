"""What a program learns of itself, and tokens of scopes, times and paces: made, narrowed, ended."""

import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.actions.members import put_on_project
from accounts.actions.organisations import add_service_account, change_member
from accounts.actions.projects import publish_configuration
from accounts.actions.tokens import make_token
from accounts.api import authentication
from accounts.api import views as api
from accounts.models import ApiToken, AuditEvent, Membership
from accounts.models.tokens import Pace
from accounts.throttling import Throttle
from tenancy.actor import acting_in
from tenancy.roles import ProjectRole, Role, TokenScope
from tests.tenants import Tenants

API = "/api/v1/"


class Program:
    """A program with a token."""

    def __init__(self, text: object) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {text}"})

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        more = {} if body is None else {"data": body, "content_type": "application/json"}
        answer = getattr(self._client, method)(f"{API}{path}", **more)
        return answer.status_code, answer.json() if answer.content else None


def program(tenants: Tenants, person: str, **more: Any) -> Program:
    with acting_in(tenants.acme, tenants.alice):
        member = Membership.objects.get(user=getattr(tenants, person))
        return Program(make_token(membership=member, name="a program", by_owner=True, **more)[1])


def test_a_program_learns_who_it_is_and_what_it_may(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source="task_name: Review\n")
    end = timezone.now() + timedelta(days=30)
    bob = program(tenants, "bob", scopes=[TokenScope.ANNOTATE], expires_at=end, pace=Pace.SLOW)
    status, answer = bob.ask("get", "whoami/")
    assert (status, answer["name"], answer["role"], answer["is_service_account"]) == (200, "bob", "annotator", False)
    assert answer["organisation"] == {"slug": "acme", "name": "Acme Research"}
    assert answer["rights"] == ["see_organisation"]
    name = tenants.acme_project.name
    assert answer["projects"] == [{"slug": "parser", "name": name, "rights": ["see_organisation", "annotate"]}]
    token = answer["token"]
    assert (token["scopes"], token["pace"], token["is_limited"]) == (["annotate"], "slow", False)
    assert token["expires_at"][:16] == end.isoformat()[:16]


def test_a_person_of_a_session_has_no_token(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    answer = client.get("/o/acme/api/v1/whoami/").json()
    assert (answer["name"], answer["token"]) == ("dora", None)
    assert {"manage_people", "manage_tokens"} <= set(answer["rights"])
    assert "manage_owners" not in answer["rights"]


def test_a_service_account_is_its_own_annotator(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source="task_name: Review\n")
        account = add_service_account(name="ci-judge")
        put_on_project(project=tenants.acme_project, membership=account, role=ProjectRole.ANNOTATOR)
        text = make_token(membership=account, name="judge", by_owner=True)[1]
    _, answer = Program(text).ask("get", "whoami/")
    assert (answer["name"], answer["is_service_account"]) == ("ci-judge", True)
    assert [one["slug"] for one in answer["projects"]] == ["parser"]


def test_a_token_opens_what_its_scopes_name_and_nothing_else(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        publish_configuration(project=tenants.acme_project, source="task_name: Review\n")
    reader = program(tenants, "alice", scopes=[TokenScope.READ])
    assert reader.ask("get", "projects/parser/people/")[0] == 200
    status, answer = reader.ask("post", "projects/parser/pause/", {"paused": True})
    assert (status, answer["code"]) == (403, "scope_needed")
    assert answer["detail"] == "This needs a token with the scope manage; this one has read."
    assert reader.ask("get", "tokens/")[0] == 403
    assert reader.ask("post", "whoami/")[0] == 405, "what nobody can ask is said before what a token may not"
    manager = program(tenants, "alice", scopes=[TokenScope.MANAGE])
    assert manager.ask("post", "projects/parser/pause/", {"paused": True})[0] == 200
    assert manager.ask("post", "projects/parser/next/", {})[0] == 403
    # A scope gives no right that the member has not.
    assert program(tenants, "bob").ask("get", "tokens/")[1]["code"] == "permission_denied"


def test_a_token_expires(tenants: Tenants) -> None:
    bob = program(tenants, "bob", expires_at=timezone.now() + timedelta(hours=1))
    assert bob.ask("get", "whoami/")[0] == 200
    with time_machine.travel(timezone.now() + timedelta(minutes=61)):
        status, answer = bob.ask("get", "whoami/")
    assert (status, answer["code"]) == (401, "invalid_token")


def test_a_pace_is_how_much_a_token_may_ask(tenants: Tenants, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.throttling.time", SimpleNamespace(monotonic=lambda: 1000.0))
    monkeypatch.setattr(api, "CALLERS", Throttle(32))
    monkeypatch.setattr(api, "ORGANISATIONS", Throttle(0))
    monkeypatch.setattr(authentication, "WRONG_TOKENS", Throttle(0))
    allowed = {}
    for pace in Pace:
        one = program(tenants, "bob", pace=pace)
        allowed[pace] = sum(one.ask("get", "whoami/")[0] == 200 for _ in range(70))
    assert allowed == {Pace.SLOW: 4, Pace.NORMAL: 16, Pace.FAST: 61}


def test_a_token_is_made_over_the_api_used_listed_and_revoked(tenants: Tenants) -> None:
    admin = program(tenants, "dora")
    body = {
        "name": "nightly import",
        "acts_as": "mallory",
        "scopes": ["import", "read"],
        "projects": ["parser"],
        "expires_at": "2099-01-31T00:00:00Z",
        "pace": "fast",
    }
    status, made = admin.ask("post", "tokens/", body)
    assert status == 201, made
    assert (made["scopes"], made["projects"], made["pace"]) == (["read", "import"], ["parser"], "fast")
    assert (made["made_by"], made["acts_as"], made["is_active"]) == ("Dora", "mallory", True)
    theirs = Program(made["text"])
    _, answer = theirs.ask("get", "whoami/")
    assert (answer["name"], answer["token"]["is_limited"]) == ("mallory", True)
    assert theirs.ask("get", "projects/parser/imports/")[0] == 200
    assert theirs.ask("post", "projects/parser/exports/", {"format": "code_review"})[1]["code"] == "scope_needed"
    shown = admin.ask("get", f"tokens/{made['id']}/")[1]
    assert (shown["text"], shown["last_used_at"] is not None) == (None, True)
    assert made["id"] in [one["id"] for one in admin.ask("get", "tokens/")[1]["results"]]
    assert admin.ask("delete", f"tokens/{made['id']}/") == (204, None)
    assert theirs.ask("get", "whoami/")[0] == 401
    assert admin.ask("get", f"tokens/{made['id']}/")[1]["is_active"] is False
    with acting_in(tenants.acme):
        detail = AuditEvent.objects.filter(verb="token.made").latest("at").detail
    assert (detail["scopes"], detail["projects"]) == (["read", "import"], ["parser"])
    assert detail["expires"] == "2099-01-31T00:00+00:00"


def test_what_is_wrong_with_a_new_token_is_said_all_at_once_with_places(tenants: Tenants) -> None:
    admin = program(tenants, "dora")
    status, answer = admin.ask("post", "tokens/", {"name": "", "scopes": ["write"], "pace": "furious", "more": 1})
    assert (status, answer["code"]) == (400, "invalid_request")
    assert [one["path"] for one in answer["errors"]] == [["name"], ["acts_as"], ["scopes", 0], ["pace"], ["more"]]
    assert "acts_as is missing." in answer["detail"]
    good = {"name": "x", "acts_as": "bob", "scopes": ["read"]}
    for wrong, path in (
        ({"acts_as": "charlie"}, ["acts_as"]),
        ({"projects": ["parser", "elsewhere"]}, ["projects", 1]),
        ({"expires_at": "2099-01-31T00:00:00"}, ["expires_at"]),
    ):
        status, answer = admin.ask("post", "tokens/", {**good, **wrong})
        assert (status, answer["errors"][0]["path"]) == (400, path)
    assert admin.ask("post", "tokens/", {**good, "expires_at": "2020-01-01T00:00:00Z"})[1]["code"] == "expired_already"
    assert admin.ask("post", "tokens/", {**good, "acts_as": "alice"})[1]["code"] == "owner_needed"


def test_a_token_makes_none_that_may_more_or_lasts_longer_than_itself(tenants: Tenants) -> None:
    end = timezone.now() + timedelta(days=2)
    admin = program(tenants, "dora", scopes=[TokenScope.ADMIN, TokenScope.READ], expires_at=end)
    body = {"name": "x", "acts_as": "bob", "scopes": ["read"], "expires_at": end.isoformat()}
    assert admin.ask("post", "tokens/", body)[0] == 201
    status, answer = admin.ask("post", "tokens/", {**body, "scopes": ["read", "export"]})
    assert (status, answer["code"]) == (403, "scope_needed")
    for later in (None, (end + timedelta(minutes=1)).isoformat()):
        status, answer = admin.ask("post", "tokens/", {**body, "expires_at": later})
        assert (status, answer["code"]) == (403, "expires_too_late")
    # A token of single projects has no part in the organisation's own affairs.
    limited = program(tenants, "dora", projects=[tenants.acme_project])
    assert limited.ask("post", "tokens/", body)[1]["code"] == "permission_denied"


def test_the_tokens_of_a_member_who_is_back_stay_ended(tenants: Tenants) -> None:
    admin, bob = program(tenants, "dora"), program(tenants, "bob")
    assert bob.ask("get", "whoami/")[0] == 200
    status, answer = admin.ask("patch", "people/bob/", {"is_active": False, "because": "Study over"})
    assert (status, answer["is_active"], answer["ended_because"]) == (200, False, "Study over")
    assert bob.ask("get", "whoami/")[0] == 401
    assert admin.ask("patch", "people/bob/", {"is_active": True})[1]["is_active"] is True
    assert bob.ask("get", "whoami/")[0] == 401


def test_another_organisations_token_is_none_here(tenants: Tenants) -> None:
    with acting_in(tenants.birch, tenants.charlie):
        member = Membership.objects.get(organisation=tenants.birch, user=tenants.charlie)
        token, _ = make_token(membership=member, name="theirs", by_owner=True)
    owner = program(tenants, "alice")
    assert owner.ask("get", f"tokens/{token.pk}/")[0] == 404
    assert owner.ask("delete", f"tokens/{token.pk}/")[0] == 404
    body = {"name": "x", "acts_as": "charlie", "scopes": ["read"]}
    assert owner.ask("post", "tokens/", body)[0] == 400
    with acting_in(tenants.birch):
        assert ApiToken.objects.get().revoked_at is None


def test_members_are_listed_changed_and_service_accounts_made(tenants: Tenants) -> None:
    admin = program(tenants, "dora")
    _, answer = admin.ask("get", "people/?q=bob@")
    (bob,) = answer["results"]
    assert (bob["name"], bob["person"], bob["role"], bob["is_active"]) == ("bob", "Bob", "annotator", True)
    assert admin.ask("patch", "people/bob/", {"role": "viewer"})[1]["role"] == "viewer"
    assert admin.ask("get", "people/bob/")[1]["role"] == "viewer"
    status, answer = admin.ask("patch", "people/alice/", {"role": "admin"})
    assert (status, answer["code"]) == (403, "owner_needed")
    assert program(tenants, "alice").ask("patch", "people/alice/", {"is_active": False})[1]["code"] == "last_owner"
    assert admin.ask("patch", "people/bob/", {"role": "service"})[1]["errors"][0]["path"] == ["role"]
    assert admin.ask("patch", "people/charlie/", {"role": "viewer"})[0] == 404
    status, made = admin.ask("post", "service-accounts/", {"name": "ci-export"})
    assert (status, made["role"], made["email"]) == (201, "service", "")
    assert [one["name"] for one in admin.ask("get", "service-accounts/")[1]["results"]] == ["ci-export"]
    status, answer = admin.ask("post", "service-accounts/", {"name": "CI-export"})
    assert (status, answer["errors"][0]["sentence"]) == (400, "Another member has this annotator name.")
    assert "ci-export" not in str(admin.ask("get", "people/")[1])
    assert admin.ask("get", "people/?show=all")[0] == 400


def test_a_list_of_members_asks_ten_queries_at_most(tenants: Tenants, django_assert_max_num_queries: Any) -> None:
    from accounts.models import User

    with acting_in(tenants.acme, tenants.alice):
        for number in range(120):
            user = User.objects.create_user(f"p{number}", email=f"p{number}@example.org")
            Membership.objects.create(user=user, role=Role.ANNOTATOR, annotator_name=f"p{number}")
        for number in range(30):
            member = Membership.objects.get(annotator_name=f"p{number}")
            make_token(membership=member, name="t", by_owner=True, projects=[tenants.acme_project])
    admin = program(tenants, "dora")
    for path in ("people/", "tokens/", "whoami/"):
        # Beside those of the list: begin, enter, the token, its use, and the end.
        with django_assert_max_num_queries(16):
            status, _ = admin.ask("get", path)
        assert status == 200
    _, first = admin.ask("get", "people/")
    assert len(first["results"]) == 100
    _, second = admin.ask("get", "people/" + first["next"].partition("people/")[2])
    assert len(second["results"]) == 24
    assert second["next"] is None


def test_a_token_is_made_on_a_members_page_with_what_it_is_for(tenants: Tenants, client: Client) -> None:
    client.force_login(tenants.dora)
    page = "/o/acme/people/member/bob/"
    sent = {"do": "token", "name": "his script", "scope": ["read", "annotate"], "days": "30", "pace": "slow"}
    answer = client.post(page, sent)
    (text,) = re.findall(r'value="(pt_[0-9a-f_]+)"', answer.content.decode())
    _, told = Program(text).ask("get", "whoami/")
    assert (told["token"]["scopes"], told["token"]["pace"]) == (["read", "annotate"], "slow")
    with acting_in(tenants.acme):
        end = ApiToken.objects.get().expires_at
    assert end is not None
    assert timedelta(days=29) < end - timezone.now() <= timedelta(days=30)
    shown = client.get(page).content.decode()
    assert "Read, Annotate" in shown
    refused = client.post(page, {"do": "token", "name": "nothing"})
    assert refused.status_code == 422
    assert "it needs one scope or more" in refused.content.decode()


def test_a_reactivated_member_finds_no_old_token_on_the_page(tenants: Tenants) -> None:
    bob = program(tenants, "bob")
    with acting_in(tenants.acme, tenants.alice):
        row = Membership.objects.get(user=tenants.bob)
        for is_active in (False, True):
            change_member(membership=row, role=Role.ANNOTATOR, annotator_name="bob", is_active=is_active, by_owner=True)
        assert not ApiToken.objects.active().exists()
    assert bob.ask("get", "whoami/")[0] == 401


def test_what_is_of_the_organisation_needs_the_scope_admin_also_where_the_address_is_open_to_others(
    tenants: Tenants,
) -> None:
    of = {scope: program(tenants, "alice", scopes=[scope]) for scope in TokenScope}
    hook = {"url": "https://hooks.example.org/potato", "events": ["submission.made"]}
    status, answer = of[TokenScope.MANAGE].ask("post", "webhooks/", hook)
    assert (status, answer["code"]) == (403, "scope_needed")
    status, of_all = of[TokenScope.ADMIN].ask("post", "webhooks/", hook)
    assert (status, of_all["project"]) == (201, None)
    status, of_one = of[TokenScope.MANAGE].ask("post", "webhooks/", {**hook, "project": "parser"})
    assert (status, of_one["project"]) == (201, "parser")
    for scope, seen in (
        (TokenScope.MANAGE, [of_one]),
        (TokenScope.READ, [of_one]),
        (TokenScope.ADMIN, [of_all, of_one]),
    ):
        _, listed = of[scope].ask("get", "webhooks/")
        assert [one["id"] for one in listed["results"]] == [one["id"] for one in seen], scope
        assert of[scope].ask("get", f"webhooks/{of_all['id']}/")[0] == (200 if of_all in seen else 404), scope
    assert of[TokenScope.MANAGE].ask("patch", f"webhooks/{of_all['id']}/", {"state": "paused"})[0] == 404
    assert of[TokenScope.READ].ask("patch", f"webhooks/{of_one['id']}/", {"state": "paused"})[0] == 403
    assert of[TokenScope.ADMIN].ask("patch", f"webhooks/{of_all['id']}/", {"state": "paused"})[0] == 200

    def verbs(scope: TokenScope) -> set[str]:
        return {one["verb"] for one in of[scope].ask("get", "audit/")[1]["results"]}

    assert {"token.made", "webhook.made"} <= verbs(TokenScope.ADMIN)
    for scope in (TokenScope.READ, TokenScope.MANAGE):
        assert "token.made" not in verbs(scope), scope


def test_a_search_tells_of_members_as_the_scopes_of_the_token_do(tenants: Tenants) -> None:
    found = {}
    for scopes in ([TokenScope.READ], [TokenScope.READ, TokenScope.ADMIN]):
        _, answer = program(tenants, "alice", scopes=scopes).ask("get", "search/?q=bob@")
        found[len(scopes)] = [hit for group in answer["groups"] if group["title"] == "People" for hit in group["hits"]]
    assert found[1] == []
    assert len(found[2]) == 1


def test_a_manager_with_the_scope_admin_alone_is_no_admin(tenants: Tenants) -> None:
    with acting_in(tenants.acme, tenants.alice):
        bob = Membership.objects.get(user=tenants.bob)
        put_on_project(project=tenants.acme_project, membership=bob, role=ProjectRole.MANAGER)
    manager = program(tenants, "bob", scopes=[TokenScope.ADMIN])
    hook = {"url": "https://hooks.example.org/potato", "events": ["submission.made"], "project": "parser"}
    assert manager.ask("post", "webhooks/", hook)[1]["code"] == "scope_needed"
    assert manager.ask("get", "webhooks/")[1]["results"] == []
    assert manager.ask("get", "audit/")[1]["results"] == []
