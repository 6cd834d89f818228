"""A project of Acme whose two annotators disagree, and a manager who settles it over the API."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from accounts.actions.projects import publish_configuration
from accounts.models import User
from jobs import outbox
from tenancy.actor import Actor, acting_in
from tests.agreement.conftest import SCHEMES, Comparing
from tests.assignments.reviews import Api, api_of, dumps
from tests.tenants import Tenants


@dataclass
class Adjudicator:
    """Somebody who settles disagreements over the API."""

    api: Api

    def queue(self, **query: str) -> list[dict[str, Any]]:
        answer = self.api.get("projects/parser/adjudication/", **query)
        assert answer.status_code == 200, answer.content
        results: list[dict[str, Any]] = answer.json()["results"]
        return results

    def take(self, trace: str = "") -> Any:
        return self.api.post("projects/parser/adjudication/", {"trace": trace} if trace else {})

    def taken(self, trace: str = "") -> dict[str, Any]:
        answer = self.take(trace)
        assert answer.status_code == 200, answer.content
        taken: dict[str, Any] = answer.json()["to_settle"]
        return taken

    def submit(self, taken: dict[str, Any], settled: list[dict[str, Any]], key: str = "", **more: Any) -> Any:
        body = {"lease_token": taken["lease_token"], "settled": settled, **more}
        return self.api.post(
            f"adjudication/{taken['assignment']}/submit/", body, **{"Idempotency-Key": key or str(uuid4())}
        )

    def settle(self, taken: dict[str, Any], settled: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        answer = self.submit(taken, settled, **more)
        assert answer.status_code == 201, answer.content
        made: dict[str, Any] = answer.json()
        return made


class Disagreeing(Comparing):
    def publish_adjudication(self, *, target: int = 2, add: dict[str, Any] | None = None, **rules: Any) -> None:
        """`add` is when one more annotator is asked."""
        source = {
            "task_name": "Review",
            "annotation_schemes": SCHEMES,
            "assignment": {"annotations_per_trace": target, **({"add_on_disagreement": add} if add else {})},
            "adjudication": {"when": "disagreement", **rules},
        }
        with acting_in(self.tenants.acme, self.tenants.alice):
            publish_configuration(project=self.project, source=dumps(source))

    def deliver(self) -> None:
        outbox.deliver(Actor(self.tenants.acme.pk, (self.tenants.acme.pk,)))

    def adjudicator(self, user: User | None = None) -> Adjudicator:
        return Adjudicator(api_of(user or self.tenants.alice))


@pytest.fixture
def disagreeing(committed_tenants: Tenants, tmp_path: Path) -> Disagreeing:
    """Of three traces one is judged alike, one with another verdict, and one with another comment alone."""
    made = Disagreeing(committed_tenants, committed_tenants.acme_project, tmp_path)
    made.publish_adjudication()
    for name in ("alike", "details", "verdicts"):
        made.trace(name)
    bob, dora = committed_tenants.bob, committed_tenants.dora
    made.judge(bob)
    made.judge(bob, lines=(15,))
    made.judge(bob, "approve", lines=(15, 40), rating=4, labels="cci")
    made.judge(dora)
    made.judge(dora, lines=(15, 50))
    made.judge(dora, "request_changes", lines=(16,), rating=2, labels="cpi", category="logic")
    made.deliver()
    return made


def choice(taken: dict[str, Any], title: str, how: str, *letters: str, **more: Any) -> dict[str, Any]:
    """What is sent for the question of that title."""
    by_title = {row["title"]: row for row in taken["questions"]}
    question = by_title[title]
    return {"scheme": question["scheme"], "key": question["key"], "how": how, "taken_from": list(letters), **more}
