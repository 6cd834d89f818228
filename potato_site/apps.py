from django.apps import AppConfig


class PotatoSiteConfig(AppConfig):
    name = "potato_site"

    def ready(self) -> None:
        from potato_site import checks, extension_checks  # noqa: F401  (registers the system checks)
