from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from accounts import audit_sentences, job_sentences
        from accounts.actions import audit as writers
        from accounts.api.idempotency import remove_expired
        from accounts.mail import MailAboutRun, mail_about
        from accounts.models.projects import visible_project
        from accounts.search import registry as searching
        from accounts.search.sources import find_people, find_projects
        from accounts.sessions import note_beginning
        from accounts.views import lead_away
        from jobs import kinds, outbox, sweeps
        from jobs import sentences as jobs_in_words
        from jobs.schedules.firing import ENDED
        from tenancy import audit, middleware, permissions, sentences

        sentences.register("Projects", audit_sentences.PROJECTS)
        sentences.register("People", audit_sentences.PEOPLE)
        for kind, links in (
            ("project", audit_sentences.project_links),
            ("project slug", audit_sentences.project_links_by_slug),
            ("membership", audit_sentences.member_links),
            ("user", audit_sentences.user_links),
            ("project member", audit_sentences.place_links),
            ("invitation", audit_sentences.invitation_links),
            ("API token", audit_sentences.token_links),
            ("job", audit_sentences.job_links),
        ):
            sentences.register_links(kind, links)
        permissions.register_project_lookup(visible_project)
        middleware.register_left(lead_away)
        audit.register(write=writers.write, write_unscoped=writers.write_unscoped)
        searching.register("projects", "Projects and batches", 20, find_projects)
        searching.register("people", "People", 40, find_people)
        jobs_in_words.register(
            MailAboutRun.name,
            doing="Sending mail about the schedule {what}",
            done="Mail about the schedule {what} was sent",
            failed="Mail about the schedule {what} could not be sent",
            icon="mail-open",
            find=job_sentences.runs_of_schedules,
        )
        kinds.register(MailAboutRun())
        sweeps.register(sweeps.Sweep("accounts.keys", "accounts_organisations_with_expired_keys", remove_expired))
        user_logged_in.connect(note_beginning)
        outbox.subscribe(ENDED, mail_about)
