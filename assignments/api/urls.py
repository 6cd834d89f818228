"""The routes below api/v1/, at both addresses: under an organisation for sessions, at the root for tokens."""

from django.urls import path

from assignments.api import imports, questions, queue, reading, repositories, reviewing, steering, traces, views

urlpatterns = [
    path("projects/<slug:project>/next/", views.NextView.as_view(), name="api-next"),
    path("projects/<slug:project>/annotations/", views.AnnotationsView.as_view(), name="api-annotations"),
    path(
        "projects/<slug:project>/traces/<uuid:trace_id>/comparison/",
        reading.ComparisonView.as_view(),
        name="api-comparison",
    ),
    path("projects/<slug:project>/batches/", steering.BatchesView.as_view(), name="api-batches"),
    path("projects/<slug:project>/batches/<int:number>/", steering.BatchView.as_view(), name="api-batch"),
    path("projects/<slug:project>/pause/", steering.PauseView.as_view(), name="api-pause"),
    path(
        "projects/<slug:project>/people/<str:annotator>/steering/",
        steering.PersonView.as_view(),
        name="api-steer-person",
    ),
    path(
        "projects/<slug:project>/assignments/<uuid:assignment_id>/reassign/",
        steering.ReassignView.as_view(),
        name="api-reassign",
    ),
    path("projects/<slug:project>/traces/steer/", steering.TracesView.as_view(), name="api-steer-traces"),
    path("projects/<slug:project>/steering/tasks/", steering.TasksView.as_view(), name="api-steer-tasks"),
    path("projects/<slug:project>/steering/people/", steering.PeopleView.as_view(), name="api-steer-people"),
    path("projects/<slug:project>/decisions/", reviewing.DecisionsView.as_view(), name="api-decisions"),
    path("projects/<slug:project>/review/", reviewing.ReviewQueueView.as_view(), name="api-review-queue"),
    path("submissions/<uuid:submission_id>/decisions/", reviewing.SubmissionDecisionsView.as_view(), name="api-decide"),
    path("submissions/<uuid:submission_id>/correct/", reviewing.CorrectView.as_view(), name="api-correct"),
    path("submissions/<uuid:submission_id>/hold/", reviewing.HoldView.as_view(), name="api-hold"),
    path("decisions/<uuid:decision_id>/undo/", reviewing.UndoView.as_view(), name="api-undo-decision"),
    path("assignments/<uuid:assignment_id>/answers/", reviewing.AnswersView.as_view(), name="api-answer-note"),
    path("projects/<slug:project>/questions/", questions.QuestionsView.as_view(), name="api-questions"),
    path("assignments/<uuid:assignment_id>/questions/", questions.AskView.as_view(), name="api-ask"),
    path("questions/<uuid:question_id>/answer/", questions.AnswerQuestionView.as_view(), name="api-answer-question"),
    *imports.urlpatterns,
    *repositories.urlpatterns,
    *traces.urlpatterns,
    *queue.urlpatterns,
    path("assignments/", views.AssignmentsView.as_view(), name="api-assignments"),
    path("assignments/<uuid:assignment_id>/", views.AssignmentView.as_view(), name="api-assignment"),
    path("assignments/<uuid:assignment_id>/heartbeat/", views.HeartbeatView.as_view(), name="api-heartbeat"),
    path("assignments/<uuid:assignment_id>/resume/", views.ResumeView.as_view(), name="api-resume"),
    path("assignments/<uuid:assignment_id>/draft/", views.DraftView.as_view(), name="api-draft"),
    path("assignments/<uuid:assignment_id>/lines/", views.LinesView.as_view(), name="api-lines"),
    path("assignments/<uuid:assignment_id>/submit/", views.SubmitView.as_view(), name="api-submit"),
    path("assignments/<uuid:assignment_id>/skip/", views.SkipView.as_view(), name="api-skip"),
    path("assignments/<uuid:assignment_id>/release/", views.ReleaseView.as_view(), name="api-release"),
    path("submissions/<uuid:submission_id>/", reading.SubmissionView.as_view(), name="api-submission"),
    path("submissions/<uuid:submission_id>/lines/", reading.SubmissionLinesView.as_view(), name="api-submission-lines"),
    path("submissions/<uuid:submission_id>/notes/", reading.NotesView.as_view(), name="api-notes"),
    path("submissions/<uuid:submission_id>/withdraw/", views.WithdrawView.as_view(), name="api-withdraw"),
]
