"""System checks of settings that each look right and together are not."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
def production_is_safe(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    return list(_production_problems()) if settings.PRODUCTION else []


def _production_problems() -> Iterator[CheckMessage]:
    if settings.DEBUG:
        yield Error(
            "DEBUG is on in production.",
            hint="Remove DEBUG from the environment: its pages show settings and source to everybody.",
            id="potato.E001",
        )
    key = settings.SECRET_KEY
    if len(key) < 50 or len(set(key)) < 10 or "development" in key or "insecure" in key:
        yield Error(
            "SECRET_KEY is a default, short or guessable.",
            hint='Make one: python -c "import secrets; print(secrets.token_urlsafe(64))"',
            id="potato.E002",
        )
    if not settings.ALLOWED_HOSTS or "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS does not name the site's hosts.",
            hint="Set ALLOWED_HOSTS=review.example.org (several with commas), never *.",
            id="potato.E003",
        )
    if settings.BROKER_URL.startswith("memory://"):
        yield Error(
            "BROKER_URL keeps messages in one process's memory.",
            hint="Set BROKER_URL=redis://host:6379/0.",
            id="potato.E004",
        )


@register(Tags.compatibility)
def the_storage_of_exports_is_installed(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.EXPORT_S3_BUCKET or find_spec("storages") is not None:
        return []
    return [
        Error(
            "EXPORT_S3_BUCKET is set, and django-storages is not installed.",
            hint="Install it: pip install --require-hashes -r requirements/s3.txt. "
            "Or remove EXPORT_S3_BUCKET, to keep exports in EXPORT_ROOT.",
            id="potato.E006",
        )
    ]


@register(Tags.compatibility)
def tasks_end_before_redis_hands_them_on(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A task that outlives the visibility timeout is handed to a second worker while the first still runs."""
    timeout = settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"]
    if timeout >= settings.CELERY_TASK_TIME_LIMIT * 2:
        return []
    return [
        Error(
            f"CELERY_VISIBILITY_TIMEOUT is {timeout} s, less than twice the task limit of "
            f"{settings.CELERY_TASK_TIME_LIMIT} s.",
            hint=f"Set it to {settings.CELERY_TASK_TIME_LIMIT * 3} or more.",
            id="potato.E005",
        )
    ]
