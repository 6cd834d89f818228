from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from django.urls import reverse

        from accounts import project_pages
        from accounts.actions import audit as writers
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
