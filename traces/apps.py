from django.apps import AppConfig


class TracesConfig(AppConfig):
    name = "traces"

    def ready(self) -> None:
        from jobs import kinds
        from traces.imports import ImportTraces

        kinds.register(ImportTraces())
