from django.apps import AppConfig


class AssignmentsConfig(AppConfig):
    name = "assignments"

    def ready(self) -> None:
        from accounts import attention, held_work, invited_batches, project_pages
        from accounts.search import registry as searching
        from assignments import audit_sentences, event_data, subscribers
        from assignments.actions.expiring import expire_leases
        from assignments.actions.leaving import end_work, held_by
        from assignments.actions.releasing import QUEUE_CHANGED, batches_to_name, is_named_in_batch, name_in_batch
        from assignments.actions.reservations import sweep_reservations
        from assignments.attention import (
            late_batches,
            open_questions,
            skipped_traces,
            traces_with_secrets,
            unjudged_traces,
        )
        from assignments.events import DECISION_MADE, TRACE_COMPLETE
        from assignments.models.batches import number_of_batches
        from assignments.reading import of_trace, place
        from assignments.searching import find_batches, find_own_annotations, find_traces
        from assignments.trace_use import USERS, places_of_import
        from assignments.upcoming import next_traces
        from jobs import outbox, sweeps
        from tenancy import sentences
        from tenancy.roles import Right
        from traces import trace_parts, uses
        from traces.evidence import render_ahead
        from traces.importing.import_job import TRACES_IMPORTED
        from traces.listing import number_of_traces
        from webhooks import events

        sentences.register("Traces and batches", audit_sentences.STEERING)
        sentences.register("Annotations", audit_sentences.ANNOTATIONS)
        sentences.register_links("batch", audit_sentences.batch_links)
        sentences.register_links("submission", audit_sentences.submission_links)
        searching.register("traces", "Traces", 10, find_traces)
        searching.register("batches", "Projects and batches", 30, find_batches)
        searching.register("own-annotations", "Your annotations", 50, find_own_annotations)
        project_pages.register(
            project_pages.ProjectTab(
                "traces", "Traces", 20, Right.SEE_TRACES, project_pages.under("traces"), number_of_traces
            )
        )
        project_pages.register(
            project_pages.ProjectTab(
                "batches", "Batches", 30, Right.SEE_TRACES, project_pages.under("batches"), number_of_batches
            )
        )
        held_work.register(
            end_work,
            lambda user, project: held_by(user, project).count(),
        )

        invited_batches.register(batches_to_name, name_in_batch, is_named_in_batch)

        outbox.subscribe("configuration.published", subscribers.configuration_published)
        outbox.subscribe(TRACES_IMPORTED, subscribers.traces_imported)
        outbox.subscribe(outbox.JOB_FINISHED, subscribers.job_finished)
        outbox.subscribe(subscribers.SLOTS_OPENED, subscribers.slots_opened)
        outbox.subscribe("submission.made", subscribers.submission_made)
        outbox.subscribe("submission.made", subscribers.queue_moved_on)
        outbox.subscribe("assignment.skipped", subscribers.queue_moved_on)
        outbox.subscribe(QUEUE_CHANGED, subscribers.queue_moved_on)
        outbox.subscribe(DECISION_MADE, subscribers.queue_moved_on)
        events.register("submission.made", event_data.submission_made)
        events.register(DECISION_MADE, event_data.decision_made)
        events.register(TRACE_COMPLETE, event_data.trace_complete)
        render_ahead.register(next_traces)
        trace_parts.register(place.PART)
        trace_parts.register(of_trace.PART)
        uses.register("assignments", USERS)
        uses.register_whereabouts(places_of_import)
        sweeps.register(
            sweeps.Sweep("assignments.leases", "assignments_organisations_with_ended_leases", expire_leases)
        )
        sweeps.register(
            sweeps.Sweep(
                "assignments.reservations", "assignments_organisations_with_ended_reservations", sweep_reservations
            )
        )
        attention.register("assignments.skipped", skipped_traces)
        attention.register("assignments.unjudged", unjudged_traces)
        attention.register("assignments.late", late_batches)
        attention.register("assignments.questions", open_questions)
        attention.register("assignments.secrets", traces_with_secrets)
