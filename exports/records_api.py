"""Records for programs that read all of them: as lines, many in a request, written as those of an export's file are."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.db.models.functions import Length
from django.http import HttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.api.pages import next_address, rows_behind
from accounts.models import ConfigurationVersion, Project
from assignments.api.parameters import CURSOR, MINE, SURPLUS
from assignments.api.views import SubmissionsView
from assignments.models import Decision, Submission
from assignments.submission_records import annotator_names
from exports.sent_rows import SentRows, id_ranges, sent_rows, unpacked_ahead
from exports.stored_records import RecordMaker, StoredRecords
from potato.wording import UNKNOWN

LINES = "application/x-ndjson"
ROWS_AT_ONCE = 2_500
PACKED_BYTES_AT_ONCE = 4 * 2**20


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
        """The records of `annotations/` alone, a JSON object in a line, up to 2,500 in an answer. The header Link has
        the address of the next ones, and is missing where there are none."""
        chosen_project = self.project()
        rows = rows_behind(self.rows(request, chosen_project), request).annotate(size=Length("packed")).order_by("pk")
        chosen: list[tuple[UUID, int]] = []
        revised: list[UUID] = []
        left, is_more = PACKED_BYTES_AT_ONCE, False
        for pk, number, size in rows.values_list("pk", "number", "size")[: ROWS_AT_ONCE + 1]:
            if chosen and (size > left or len(chosen) == ROWS_AT_ONCE):
                is_more = True
                break
            chosen.append((pk, size))
            left -= size
            if number > 1:
                revised.append(pk)
        answer = HttpResponse(b"".join(_lines(chosen_project, chosen, revised)), content_type=LINES)
        if is_more:
            answer["Link"] = f'<{next_address(request, str(chosen[-1][0]))}>; rel="next"'
        return answer


def _lines(project: Project, chosen: Sequence[tuple[UUID, int]], revised: Sequence[UUID]) -> Iterator[bytes]:
    """The records of these submissions, which come with the sizes of what is stored, in the order of their making."""
    if not chosen:
        return
    keys, sizes = zip(*((pk.bytes, size) for pk, size in chosen), strict=True)
    rows = Submission.objects.for_project(project).filter(pk__any_of=keys)
    sent = list(sent_rows(rows, list(id_ranges(keys, sizes))))
    versions = ConfigurationVersion.objects.filter(project=project).values_list("pk", "number")
    maker = RecordMaker(
        _annotators(sent), {version.bytes: number for version, number in versions}, _correctors(project, revised)
    )
    for _, lines in StoredRecords(unpacked_ahead(sent), maker).lines("text"):
        yield lines


def _annotators(sent: Sequence[SentRows]) -> dict[bytes, str]:
    """The names of those whose rows they are."""
    users = {UUID(bytes=row[3]) for rows in sent for row in rows.rows}
    names = annotator_names(users)
    return {user.bytes: names.get(user, "") for user in users}


def _correctors(project: Project, revised: Sequence[UUID]) -> dict[bytes, str]:
    """Who made each of these revisions, where it was not the annotator."""
    if not revised:
        return {}
    decisions = Decision.objects.for_project(project).filter(correction__in=revised)
    decided = dict(decisions.values_list("correction", "decided_by"))
    names = annotator_names({user for user in decided.values() if user})
    return {
        submission.bytes: names.get(user, UNKNOWN) if user else UNKNOWN
        for submission, user in decided.items()
        if submission
    }


urlpatterns = [path("projects/<slug:project>/records/", RecordsView.as_view(), name="api-records")]
