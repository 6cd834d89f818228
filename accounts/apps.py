from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts.actions import audit as writers
        from tenancy import audit

        audit.register(write=writers.write, write_unscoped=writers.write_unscoped)
