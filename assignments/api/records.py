"""Records for programs that read all of them: as lines, many in a request, without a look into what was answered."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models.functions import Length
from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from isal import igzip
from rest_framework.request import Request

from accounts.api.exact_json import dumps
from accounts.api.pages import next_address, rows_behind
from assignments.api.parameters import CURSOR, MINE, SURPLUS
from assignments.api.views import SubmissionsView
from assignments.models import Decision, Submission
from assignments.submission_records import annotator_names
from potato.records.annotations import record
from potato.records.archives import BY_PROGRAM
from potato.wording import UNKNOWN

LINES = "application/x-ndjson"
ROWS_AT_ONCE = 5_000
PACKED_BYTES_AT_ONCE = 4 * 2**20
_COLUMNS = (
    "pk", "number", "submitted_at", "active_seconds", "via_token", "packed",
    "assignment__user", "assignment__trace__external_id", "assignment__trace__version",
)  # fmt: skip


class RecordsView(SubmissionsView):
    @extend_schema(
        parameters=[
            CURSOR,
            SURPLUS,
            MINE,
            OpenApiParameter(
                "Link", str, OpenApiParameter.HEADER, response=[200], description='The next page, as `rel="next"`.'
            ),
        ],
        responses={(200, LINES): OpenApiTypes.STR},
    )
    def get(self, request: Request, project: str) -> HttpResponse:
        """The records of `annotations/` alone, a JSON object in a line, up to 5,000 in an answer. The header Link has
        the address of the next ones, and is missing where there are none."""
        rows = rows_behind(self.rows(request), request)
        sizes = rows.order_by("pk").values_list("pk", Length("packed"))[: ROWS_AT_ONCE + 1]
        chosen: list[UUID] = []
        left, is_more = PACKED_BYTES_AT_ONCE, False
        for pk, size in sizes:
            if chosen and (size > left or len(chosen) == ROWS_AT_ONCE):
                is_more = True
                break
            chosen.append(pk)
            left -= size
        answer = HttpResponse(b"".join(record_lines(chosen)), content_type=LINES)
        if is_more:
            answer["Link"] = f'<{next_address(request, str(chosen[-1]))}>; rel="next"'
        return answer


def record_lines(submissions: list[UUID]) -> Iterable[bytes]:
    """The records of these submissions, in the order of their making."""
    if not submissions:
        return
    rows = Submission.objects.filter(pk__in=submissions)
    found = list(rows.order_by("pk").values_list(*_COLUMNS))
    names = annotator_names({row[6] for row in found})
    reviewers = _reviewers([row[0] for row in found if row[1] > 1])
    for pk, _, at, seconds, via_token, packed, user, external_id, version in found:
        head: dict[str, Any] = record(
            external_id,
            names.get(user, ""),
            at,
            {},
            trace_version=version,
            active_seconds=seconds,
            via=BY_PROGRAM if via_token else None,
            corrected_by=reviewers.get(pk),
        )
        # `annotations` stands last and empty: what was stored takes its place as it is, which is JSON in ASCII.
        yield b"%s%s}\n" % (dumps(head)[:-3], igzip.decompress(packed))


def _reviewers(revised: list[UUID]) -> dict[UUID, str]:
    """Who made each of these revisions, where it was not the annotator."""
    if not revised:
        return {}
    decided = dict(Decision.objects.filter(correction__in=revised).values_list("correction", "decided_by"))
    names = annotator_names({user for user in decided.values() if user})
    return {submission: names.get(user, UNKNOWN) if user else UNKNOWN for submission, user in decided.items()}


urlpatterns = [path("projects/<slug:project>/records/", RecordsView.as_view(), name="api-records")]
