from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from django.urls import reverse

        from accounts import project_pages
        from accounts.actions import audit as writers
        from accounts.mail import MailAboutRun, mail_about
        from jobs import kinds, outbox
        from jobs.schedules.firing import ENDED
        from tenancy import audit
        from tenancy.roles import Right

        project_pages.register(
            project_pages.ProjectTab(
                "set-up",
                "Set-up",
                80,
                Right.CONFIGURE_PROJECTS,
                lambda project: reverse("admin:accounts_project_configuration", args=[project.pk]),
            )
        )
        audit.register(write=writers.write, write_unscoped=writers.write_unscoped)
        kinds.register(MailAboutRun())
        outbox.subscribe(ENDED, mail_about)
