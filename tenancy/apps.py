from django.apps import AppConfig


class TenancyConfig(AppConfig):
    name = "tenancy"

    def ready(self) -> None:
        from tenancy import checks, permissions  # noqa: F401  (registers the system checks)
