"""What models suggest of traces, for programs: send it, read it with who saw it, and what one's own task shows."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.bodies import read
from accounts.api.views import ApiView
from accounts.models.projects import visible_project
from assignments.api.pages import cursor_page
from assignments.api.views import AnnotatorView
from assignments.models import Suggestion, SuggestionExposure
from assignments.submission_records import annotator_names
from assignments.suggestions.showing import items_for
from assignments.suggestions.taking import take_suggestions
from potato.api import suggestions as shapes
from tenancy.roles import Right

CURSOR = OpenApiParameter("cursor", str, description="The cursor in `next` or `previous` of another page.")


class ProjectSuggestionsView(ApiView):
    right = Right.SEE_ANNOTATIONS
    right_to_change = Right.MANAGE_SOURCES
    largest_body = 8 * 2**20

    @extend_schema(parameters=[CURSOR], responses=shapes.Suggestions)
    def get(self, request: Request, project: str) -> Response:
        """What models suggest of the project's traces, in the order in which it came in, and who saw it."""
        chosen = visible_project(self.membership, project)
        rows = Suggestion.objects.for_project(chosen).select_related("trace")
        following, previous, page = cursor_page(rows, request)
        return Response(shapes.Suggestions(next=following, previous=previous, results=suggestion_records(page)))

    @extend_schema(request=shapes.SuggestionsRequest, responses=shapes.SuggestionsTaken)
    def post(self, request: Request, project: str) -> Response:
        """Take what a model suggests, at most 1,000 records in a request. The same again is `known`; a record that
        cannot be taken is named in `refused`, and keeps no other one out. Annotators see it with tasks that they claim
        from then on, where the project's configuration shows suggestions."""
        chosen = visible_project(self.membership, project)
        body = read(shapes.SuggestionsRequest, request)
        taken = take_suggestions(project=chosen, records=body.suggestions)
        refused = [
            shapes.UnreadSuggestion(place=place, field=field, sentence=sentence)
            for place, field, sentence in taken.problems
        ]
        return Response(shapes.SuggestionsTaken(taken=taken.taken, known=taken.known, refused=refused))


class TaskSuggestionsView(AnnotatorView):
    @extend_schema(responses=shapes.TaskSuggestions)
    def get(self, request: Request, assignment_id: UUID) -> Response:
        """What a model suggests for one's own task, item by item. What is done with an item goes into the answers under
        `suggestions`: `{"items": [{"id": ..., "action": "accepted", "part": the comment_id of a comment}]}`."""
        assignment = self.own_assignment()
        return Response(shapes.TaskSuggestions(items=items_for(assignment, assignment.configuration())))


def suggestion_records(suggestions: Sequence[Suggestion]) -> list[shapes.Suggestion]:
    """The suggestions, read with their traces, with the annotators who saw them and those who did not."""
    exposures = SuggestionExposure.objects.filter(suggestion__in=[row.pk for row in suggestions])
    drawn = list(exposures.order_by("pk").values_list("suggestion", "assignment__user", "is_shown"))
    names = annotator_names({user for _, user, _ in drawn})
    people: defaultdict[tuple[UUID, bool], list[str]] = defaultdict(list)
    for suggestion, user, is_shown in drawn:
        people[suggestion, is_shown].append(names.get(user, ""))
    return [
        shapes.Suggestion(
            id=row.trace.external_id,
            trace_version=row.trace.version,
            model=row.model,
            model_version=row.model_version,
            provenance=row.provenance,
            annotations=row.result,
            shown_to=people[row.pk, True],
            hidden_from=people[row.pk, False],
        )
        for row in suggestions
    ]


urlpatterns = [
    path("projects/<slug:project>/suggestions/", ProjectSuggestionsView.as_view(), name="api-suggestions"),
    path("assignments/<uuid:assignment_id>/suggestions/", TaskSuggestionsView.as_view(), name="api-task-suggestions"),
]
