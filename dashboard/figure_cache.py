"""Figures of a large project are kept for a minute: who has its overview open asks for them every ten seconds.

Going through all annotations takes the longer the more there are: about 0.1 seconds for 20,000. Small projects are
read anew each time, so that what somebody just did is there.
"""

from contextlib import suppress
from dataclasses import dataclass

from django.core.cache import cache
from redis import RedisError

from accounts.models import Project
from assignments.forecast import Day
from dashboard.figures import People, last_days, people_at_work

KEPT_FROM = 10_000
"""Annotations from which on figures are kept."""
SECONDS = 60


@dataclass(frozen=True)
class Work:
    """What people did in a project, by person and by day, as it was at one moment."""

    people: People
    days: list[Day]


def work_in(project: Project) -> Work:
    """What people did in the project; at most SECONDS old, and only where it has many annotations.

    Without a cache it is read anew each time.
    """
    key = f"dashboard.work:{project.organisation_id}:{project.pk}"
    with suppress(RedisError, OSError):
        kept = cache.get(key)
        if isinstance(kept, Work):
            return kept
    work = Work(people_at_work(project), last_days(project))
    if work.people.annotations >= KEPT_FROM:
        with suppress(RedisError, OSError):
            cache.set(key, work, SECONDS)
    return work
