"""Every route of the site as an address, filled with the ids of one organisation's fixtures."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from django.apps import apps
from django.conf import settings

from tenancy.permissions import routes
from tests.isolation.rows.accounts import token_of
from tests.isolation.rows.fixtures import Fixtures
from traces.rendering.diff import RENDER_VERSION, DiffOptions
from traces.rendering.steps import StepOptions

ORGANISATION = "/o/<organisation>/"

_NAMED_GROUP = re.compile(r"\^?\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")
_CONVERTED = re.compile(r"<\w+:(\w+)>")
_PLACE = re.compile(r"<(\w+)>")


@dataclass(frozen=True)
class Address:
    """A route, as in `/o/<organisation>/admin/jobs/job/<object_id>/change/`."""

    text: str

    @property
    def is_global(self) -> bool:
        return not self.text.startswith(ORGANISATION)

    @property
    def names_a_row(self) -> bool:
        return any(name not in ("organisation", "app_label", "url", "token") for name in _PLACE.findall(self.text))

    def filled(self, *, slug: str, fixtures: Fixtures) -> str:
        """The path under that organisation, with the ids of those fixtures."""
        return _PLACE.sub(
            lambda place: slug if place[1] == "organisation" else self._value(place[1], fixtures), self.text
        )

    def _value(self, name: str, fixtures: Fixtures) -> str:
        if name not in _VALUES:
            raise LookupError(f"{self.text}: say in tests/isolation/addresses.py what <{name}> is filled with")
        return _VALUES[name](fixtures, self.text)


def _row_of_the_admin(fixtures: Fixtures, text: str) -> str:
    app, model = text.removeprefix(f"{ORGANISATION}admin/").split("/")[:2]
    return str(fixtures.rows[apps.get_model(app, model)._meta.label].pk)


_CONTENTS = {"/files/": "traces.TraceFile", "/pictures/": "traces.Picture"}


def _content(fixtures: Fixtures, text: str) -> str:
    """The hash of the file, the picture or the step that an address is about."""
    model = next((name for part, name in _CONTENTS.items() if part in text), "traces.TraceStep")
    return str(fixtures.rows[model].sha256)


_VALUES: dict[str, Callable[[Fixtures, str], str]] = {
    "object_id": _row_of_the_admin,
    "project_id": lambda fixtures, text: str(fixtures.rows["accounts.Project"].pk),
    "job_id": lambda fixtures, text: str(fixtures.rows["jobs.Job"].pk),
    "repository_id": lambda fixtures, text: str(fixtures.rows["traces.Repository"].pk),
    "file_id": lambda fixtures, text: str(fixtures.rows["traces.ImportedFile"].pk),
    "project": lambda fixtures, text: str(fixtures.rows["accounts.Project"].slug),
    "trace_id": lambda fixtures, text: str(fixtures.rows["traces.Trace"].pk),
    "index": lambda fixtures, text: "0",
    "sha256": _content,
    "version": lambda fixtures, text: str(1 if "/scheme-colours/" in text else RENDER_VERSION),
    "key": lambda fixtures, text: (DiffOptions() if "/files/" in text else StepOptions()).key,
    "part": lambda fixtures, text: "0",
    "size": lambda fixtures, text: "small",
    "tab": lambda fixtures, text: "files",
    "what": lambda fixtures, text: "restore",
    "expected_id": lambda fixtures, text: str(fixtures.rows["gold.ExpectedAnnotation"].pk),
    "assignment_id": lambda fixtures, text: str(fixtures.rows["assignments.Assignment"].pk),
    "adjudication_id": lambda fixtures, text: str(fixtures.rows["adjudication.Adjudication"].pk),
    "endpoint_id": lambda fixtures, text: str(fixtures.rows["webhooks.Endpoint"].pk),
    "delivery_id": lambda fixtures, text: str(fixtures.rows["webhooks.Delivery"].pk),
    "report_id": lambda fixtures, text: str(fixtures.rows["agreement.AgreementReport"].pk),
    "plot": lambda fixtures, text: "history",
    "source_report_id": lambda fixtures, text: str(fixtures.rows["agreement.SourceReport"].pk),
    "source_id": lambda fixtures, text: str(fixtures.rows["agreement.Source"].pk),
    "export_id": lambda fixtures, text: str(fixtures.rows["exports.Export"].pk),
    "schedule_id": lambda fixtures, text: str(
        fixtures.rows["agreement.AgreementSchedule" if "agreement" in text else "exports.ExportSchedule"].pk
    ),
    "question_id": lambda fixtures, text: str(fixtures.rows["assignments.Question"].pk),
    "decision_id": lambda fixtures, text: str(fixtures.rows["assignments.Decision"].pk),
    "submission_id": lambda fixtures, text: str(fixtures.rows["assignments.Submission"].pk),
    "slug": lambda fixtures, text: fixtures.organisation.slug,
    "account": lambda fixtures, text: str(fixtures.rows["accounts.Membership"].user_id),
    "name": lambda fixtures, text: str(fixtures.rows["accounts.Membership"].annotator_name),
    "session": lambda fixtures, text: "0" * 32,
    "copy_id": lambda fixtures, text: str(fixtures.rows["leaving.PersonalCopy"].pk),
    "removal_id": lambda fixtures, text: str(fixtures.rows["leaving.TraceRemoval"].pk),
    "invitation_id": lambda fixtures, text: str(fixtures.rows["accounts.Invitation"].pk),
    # It names a row too, and is the right to use it: whoever has another fixtures's link may join there.
    "token": lambda fixtures, text: str(token_of(fixtures)),
    "app_label": lambda fixtures, text: "accounts",
    "act_id": lambda fixtures, text: str(fixtures.rows["assignments.SteeringAct"].pk),
    "rule_id": lambda fixtures, text: str(fixtures.rows["assignments.StandingRule"].pk),
    "number": lambda fixtures, text: str(fixtures.rows["assignments.Batch"].number),
    "annotator": lambda fixtures, text: fixtures.mark,
    "token_id": lambda fixtures, text: str(fixtures.rows["accounts.ApiToken"].pk),
    "url": lambda fixtures, text: "nowhere/",
}


def addresses(*, global_urlconf: str = "", organisation_urlconf: str = "") -> list[Address]:
    """Those of the site unless told otherwise."""
    found = [
        Address(prefix + _CONVERTED.sub(r"<\1>", _NAMED_GROUP.sub(r"<\1>", path)).rstrip("$"))
        for prefix, urlconf in (
            ("/", global_urlconf or settings.ROOT_URLCONF),
            (ORGANISATION, organisation_urlconf or settings.ORGANISATION_URLCONF),
        )
        for path, _ in routes(urlconf)
    ]
    return list(dict.fromkeys(found))
