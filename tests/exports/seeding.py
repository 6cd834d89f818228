"""Many full review records at once, as if ten people had reviewed each trace of a project."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from accounts.models import Membership, Organisation, Project, User
from tenancy.actor import acting_in
from tenancy.models import new_id
from traces.models import Body, ImportedFile, Trace
from traces.models.bodies import pack

PEOPLE = 10
_AT_ONCE = 10_000
_DIFFERENT = 500
"""So many reviews of a batch differ; packing a million of them would take longer than exporting them."""
_CONTENT = "0" * 64
_RUN = {"id": "", "task_description": "Fix the failing test of the parser", "steps": [{"message": "I look at it."}]}
"""What all of the traces are, by that hash."""
_WORDS = ["range", "token", "list", "index", "error", "parser", "value", "return", "start", "line", "case", "name"]

_ASSIGN = """
INSERT INTO assignments_assignment
  (id, organisation_id, project_id, trace_id, user_id, version_id, kind, state, since, fencing_token, skip_reason,
   first_submission)
SELECT id, %(organisation)s, %(project)s, trace_id, user_id, %(version)s, 'normal', 'submitted', now(), 1, '', first
FROM unnest(%(assignments)s::uuid[], %(traces)s::uuid[], %(users)s::uuid[], %(submissions)s::uuid[])
     AS given (id, trace_id, user_id, first)
"""
_SUBMIT = """
INSERT INTO assignments_submission
  (id, organisation_id, project_id, assignment_id, number, packed, submitted_at, key, request_sha256, is_surplus)
SELECT id, %(organisation)s, %(project)s, assignment_id, 1, packed, now(), 'seed', repeat('0', 64), false
FROM unnest(%(submissions)s::uuid[], %(assignments)s::uuid[]) WITH ORDINALITY AS given (id, assignment_id, number)
JOIN unnest(%(packed)s::bytea[]) WITH ORDINALITY AS reviews (packed, which) ON which = number %% %(different)s + 1
"""


def seed(organisation: Organisation, project: Project, reviews: int) -> None:
    """Add so many reviews to the published project, with people and traces of their own, and commit them."""
    with acting_in(organisation):
        people = _people()
        version = project.newest_version()
        assert version is not None
        file = ImportedFile.objects.create(project=project, name="seed", size=1, sha256="0" * 64, format="auto")
        Body.objects.get_or_create(sha256=_CONTENT, defaults={"packed": pack(_RUN)})
    numbers = random.Random(reviews)  # noqa: S311 - the same reviews each time
    for start in range(0, reviews, _AT_ONCE):
        many = min(_AT_ONCE, reviews - start)
        with acting_in(organisation):
            traces = Trace.objects.bulk_create(
                _trace(project, file, (start + number) // PEOPLE) for number in range(0, many, PEOPLE)
            )
            given = {
                "organisation": project.organisation_id,
                "project": project.pk,
                "version": version.pk,
                "assignments": [new_id() for _ in range(many)],
                "submissions": [new_id() for _ in range(many)],
                "traces": [traces[number // PEOPLE].pk for number in range(many)],
                "users": [people[number % PEOPLE].pk for number in range(many)],
                "packed": [pack(review(numbers)) for _ in range(_DIFFERENT)],
                "different": _DIFFERENT,
            }
            with connection.cursor() as cursor:
                cursor.execute(_ASSIGN, given)
                cursor.execute(_SUBMIT, given)
        if not start:
            count_rows()


def count_rows() -> None:
    """What autovacuum does within a minute; until then foreign keys are checked as if tables were empty, row by row."""
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute("ANALYZE")
        cursor.execute(f"SET ROLE {connection.ops.quote_name(settings.DATABASE_APP_ROLE)}")


def review(numbers: random.Random) -> dict[str, Any]:
    """A review like the documented one: three comments, two rated files, a verdict with its summary."""
    now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=numbers.randrange(10**7))

    def words(count: int) -> str:
        return " ".join(numbers.choices(_WORDS, k=count)).capitalize()

    def comment(number: int) -> dict[str, Any]:
        line = numbers.randrange(1, 900)
        return {
            "file": f"src/{numbers.choice(_WORDS)}.py",
            "line_start": line,
            "line_end": line + numbers.randrange(3),
            "category": numbers.choice(["bug", "style", "praise"]),
            "severity": numbers.choice(["critical", "minor", "nit"]),
            "comment": words(14),
            "suggestion": f"if {words(2)}:\n    return {words(3)}\n",
            "side": "new",
            "comment_id": f"c{numbers.getrandbits(40):x}{number}",
            "created_at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }

    return {
        "inline_comments": [comment(number) for number in range(3)],
        "file_ratings": {
            f"src/{name}.py": {"correctness": numbers.randint(1, 5), "quality": numbers.randint(1, 5)}
            for name in numbers.sample(_WORDS, 2)
        },
        "verdict": {"decision": numbers.choice(["approve", "request_changes"]), "summary": words(30)},
    }


def _people() -> list[User]:
    people = []
    for number in range(PEOPLE):
        user = User.objects.create_user(f"reviewer{number}", email=f"reviewer{number}@example.org")
        Membership.objects.create(user=user, annotator_name=f"reviewer_{number:02}")
        people.append(user)
    return people


def _trace(project: Project, file: ImportedFile, number: int) -> Trace:
    return Trace(
        project=project,
        file=file,
        external_id=f"seed-{number:07}",
        content_sha256=_CONTENT,
        task=f"Fix the failing test {number} of the parser",
        task_id=f"task-{number}",
        agent_model=f"model-{number % 3}",
        converter="native",
        steps_count=1,
        tool_calls=0,
        files_count=0,
        added=0,
        removed=0,
    )
