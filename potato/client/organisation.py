"""What a program asks of an organisation: its people and their tokens, background work, decisions and webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from potato.api.audit import TrailDecision, TrailPage
from potato.api.jobs import JobFacts, JobState
from potato.api.people import ChangedMember, Member, Pace, Role, Token, TokenScope
from potato.api.webhooks import Deliveries, Delivery, Webhook, Webhooks
from potato.client.operations import operation, stream
from potato.client.steps import Request, Rows, Steps, Stream, ask, get, pages, path, send, tell


class OrganisationOperations:
    """Most of it asks for a token of an admin with the scope `admin`."""

    # --- People and tokens ---

    @stream
    def members(self, *, show: str = "people", q: str | None = None) -> Stream[Member]:
        """The organisation's people; `show` is people, service or off."""
        return pages(path("people"), Member, show=show, q=q)

    @operation
    def change_member(
        self, name: str, *, role: Role | None = None, is_active: bool | None = None, because: str = ""
    ) -> Steps[ChangedMember]:
        """Change what a member is, end the membership, or begin it again."""
        body: dict[str, Any] = {"because": because}
        body |= {} if role is None else {"role": role}
        body |= {} if is_active is None else {"is_active": is_active}
        return ask(send("PATCH", path("people", name), body), ChangedMember)

    @operation
    def make_service_account(self, name: str) -> Steps[Member]:
        """A member without a login, as whom tokens act."""
        return ask(send("POST", path("service-accounts"), {"name": name}), Member)

    @operation
    def make_token(
        self,
        name: str,
        *,
        acts_as: str,
        scopes: Sequence[TokenScope],
        projects: Sequence[str] | None = None,
        expires_at: datetime | None = None,
        pace: Pace = "normal",
    ) -> Steps[Token]:
        """A token for that member; its `text` is in this answer alone."""
        body = {
            "name": name,
            "acts_as": acts_as,
            "scopes": list(scopes),
            "projects": None if projects is None else list(projects),
            "expires_at": None if expires_at is None else expires_at.isoformat(),
            "pace": pace,
        }
        return ask(send("POST", path("tokens"), body), Token)

    @stream
    def tokens(self) -> Stream[Token]:
        """The organisation's tokens, the oldest first, those that have ended among them."""
        return pages(path("tokens"), Token)

    @operation
    def revoke_token(self, token: Token | UUID) -> Steps[None]:
        """It opens nothing from the next request on."""
        one = token if isinstance(token, UUID) else token.id
        return tell(Request("DELETE", path("tokens", one), is_repeatable=True))

    # --- Background work and decisions ---

    @stream
    def jobs(self, *, state: JobState | Sequence[JobState] = (), kind: str | Sequence[str] = ()) -> Stream[JobFacts]:
        """The organisation's background work, the oldest first; `state` and `kind` are one or several."""
        return pages(path("jobs"), JobFacts, state=state or None, kind=kind or None)

    @operation
    def job(self, job: UUID) -> Steps[JobFacts]:
        """One job."""
        return ask(get(path("jobs", job)), JobFacts)

    @operation
    def cancel_job(self, job: JobFacts | UUID) -> Steps[JobFacts]:
        """End a waiting job now, and a running one after its present part."""
        return ask(send("POST", path("jobs", job if isinstance(job, UUID) else job.id, "cancel")), JobFacts)

    @stream
    def audit(
        self, *, project: str | None = None, days: str | None = None, target: UUID | None = None
    ) -> Stream[TrailDecision]:
        """What was decided, the newest first: in the organisation for its admins, else in the caller's projects."""
        before: UUID | None = None
        while True:
            asked = get(path("audit"), project=project, days=days, target=target, before=before)
            page = TrailPage.model_validate_json((yield asked).content)
            yield Rows(page.results)
            before = page.next
            if before is None:
                return

    # --- Webhooks ---

    @operation
    def webhooks(self) -> Steps[list[Webhook]]:
        """The webhooks that the caller may manage, the oldest first."""
        found = yield from ask(get(path("webhooks")), Webhooks)
        return found.results

    @operation
    def make_webhook(
        self, url: str, events: Sequence[str], *, project: str | None = None, description: str = ""
    ) -> Steps[Webhook]:
        """Have events sent there, of a project or of all; its signing `secret` is in this answer alone."""
        body = {"url": url, "events": list(events), "project": project, "description": description}
        return ask(send("POST", path("webhooks"), body), Webhook)

    @operation
    def change_webhook(
        self,
        webhook: Webhook | UUID,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None = None,
        state: str | None = None,
    ) -> Steps[Webhook]:
        """Change what is named; `state` is on or paused."""
        given = {"url": url, "events": None if events is None else list(events), "description": description}
        body = {name: value for name, value in {**given, "state": state}.items() if value is not None}
        return ask(send("PATCH", _webhook(webhook), body), Webhook)

    @operation
    def remove_webhook(self, webhook: Webhook | UUID) -> Steps[None]:
        """Send nothing there any more."""
        return tell(Request("DELETE", _webhook(webhook), is_repeatable=True))

    @operation
    def replace_webhook_secret(self, webhook: Webhook | UUID) -> Steps[Webhook]:
        """A new signing secret, in this answer alone. The old one signs as well for 24 hours."""
        return ask(send("POST", _webhook(webhook, "secret")), Webhook)

    @operation
    def test_webhook(self, webhook: Webhook | UUID) -> Steps[Delivery]:
        """Send it a test."""
        return ask(send("POST", _webhook(webhook, "test")), Delivery)

    @stream
    def deliveries(self, webhook: Webhook | UUID) -> Stream[Delivery]:
        """What was sent there, or is to be, the newest first."""
        before: UUID | None = None
        while True:
            page = Deliveries.model_validate_json((yield get(_webhook(webhook, "deliveries"), before=before)).content)
            yield Rows(page.results)
            before = page.next
            if before is None:
                return

    @operation
    def redeliver(self, webhook: Webhook | UUID, delivery: Delivery | UUID) -> Steps[Delivery]:
        """Send it again."""
        one = delivery if isinstance(delivery, UUID) else delivery.id
        return ask(send("POST", _webhook(webhook, "deliveries", one, "redeliver")), Delivery)


def _webhook(webhook: Webhook | UUID, *more: object) -> str:
    return path("webhooks", webhook if isinstance(webhook, UUID) else webhook.id, *more)
