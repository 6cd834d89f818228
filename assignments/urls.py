"""Routes of annotating, under p/<project>/."""

from django.urls import path

from assignments.readable_colours import VERSION
from assignments.reading import compare_views as comparing
from assignments.reading import views as reading
from assignments.task_page import views as task
from assignments.views import annotations, batch, batches, claims, decisions, pool, questions, rules, secrets

urlpatterns = [
    path("next/", claims.next_task, name="next-task"),
    # Browsers keep the sheet for a year: other tones of the same colours have another address.
    path(f"scheme-colours/{VERSION}/<int:version>.css", task.scheme_colours, name="scheme-colours"),
    path("tasks/<uuid:assignment_id>/", task.task_start, name="task"),
    path("tasks/<uuid:assignment_id>/files/", task.task_files, name="task-files"),
    path("tasks/<uuid:assignment_id>/base/", task.task_base, name="task-base"),
    path("tasks/<uuid:assignment_id>/base/run.patch", task.task_patch, name="task-patch"),
    path("tasks/<uuid:assignment_id>/steps/", task.task_steps, name="task-steps"),
    path("tasks/<uuid:assignment_id>/guidelines/", task.task_guidelines, name="task-guidelines"),
    path(
        "tasks/<uuid:assignment_id>/guidelines/acknowledge/", task.acknowledge_guidelines, name="acknowledge-guidelines"
    ),
    path("tasks/<uuid:assignment_id>/resume/", task.resume_task, name="resume-task"),
    path("tasks/<uuid:assignment_id>/answer/", decisions.answer, name="answer-note"),
    path("tasks/<uuid:assignment_id>/ask/", questions.ask_question, name="ask-question"),
    path("questions/", questions.question_list, name="questions"),
    path("questions/<uuid:question_id>/answer/", questions.answer, name="answer-question"),
    path(
        "tasks/<uuid:assignment_id>/files/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        task.task_file_part,
        name="task-file-fragment",
    ),
    path(
        "tasks/<uuid:assignment_id>/steps/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        task.task_step_part,
        name="task-step-fragment",
    ),
    path("tasks/<uuid:assignment_id>/pictures/<slug:sha256>/<slug:size>.webp", task.task_picture, name="task-picture"),
    path("tasks/<uuid:assignment_id>/release/", claims.release_task, name="release-task"),
    path("tasks/<uuid:assignment_id>/skip/", claims.skip_task, name="skip-task"),
    path("tasks/<uuid:assignment_id>/put-off/", claims.put_off_task, name="put-off-task"),
    path("traces/", pool.trace_list, name="traces"),
    path("traces/secrets/", secrets.secret_list, name="secrets"),
    path("traces/imports-wait/", pool.wait_in_pool, name="imports-wait"),
    path("traces/undo/<uuid:act_id>/", pool.undo_steering, name="undo-steering"),
    path("batches/", batches.batch_list, name="batches"),
    path("batches/pause/", batches.pause_all, name="pause-project"),
    path("batches/<int:number>/", batch.batch_page, name="batch"),
    path("batches/new/", batches.release_page, name="release-batch"),
    path("batches/new/preview/", batches.release_preview, name="release-preview"),
    path("batches/rules/<uuid:rule_id>/", rules.rule_page, name="rule"),
    path("batches/rules/<uuid:rule_id>/end/", rules.end_standing_rule, name="end-rule"),
    path("annotations/", annotations.project_annotations, name="annotations"),
    path("annotations/decide/", decisions.decide_chosen, name="decide-chosen"),
    path("annotations/undo/", decisions.undo, name="undo-decisions"),
    path("annotations/review/", decisions.review_queue, name="review-queue"),
    path("annotations/review/next/", decisions.review_next, name="review-next"),
    path("annotations/<uuid:submission_id>/decide/", decisions.decide, name="decide"),
    path("annotations/compare/", comparing.compare_chosen, name="compare-chosen"),
    path("traces/<uuid:trace_id>/compare/", comparing.compare_trace, name="compare"),
    path("annotations/<uuid:submission_id>/", reading.annotation, name="read-annotation"),
    path("annotations/<uuid:submission_id>/files/", reading.annotation_files, name="read-annotation-files"),
    path("annotations/<uuid:submission_id>/steps/", reading.annotation_steps, name="read-annotation-steps"),
    path(
        "annotations/<uuid:submission_id>/guidelines/", reading.annotation_guidelines, name="read-annotation-guidelines"
    ),
    path("annotations/<uuid:submission_id>/notes/", reading.note_annotation, name="note-annotation"),
    path("annotations/<uuid:submission_id>/record/", reading.annotation_record_tab, name="read-annotation-record"),
    path(
        "annotations/<uuid:submission_id>/files/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        reading.annotation_file_part,
        name="read-annotation-file-fragment",
    ),
    path(
        "annotations/<uuid:submission_id>/steps/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        reading.annotation_step_part,
        name="read-annotation-step-fragment",
    ),
    path(
        "annotations/<uuid:submission_id>/pictures/<slug:sha256>/<slug:size>.webp",
        reading.annotation_picture,
        name="read-annotation-picture",
    ),
]
