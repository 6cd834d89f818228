"""The first submission of an assignment stands with it; of those that were made before it is found."""

from uuid import UUID

from django.conf import settings
from django.db import migrations, models

ROWS_AT_ONCE = 20_000
FILL = """
WITH chosen AS (
  SELECT id, organisation_id, assignment_id, number FROM assignments_submission WHERE id > %s ORDER BY id LIMIT %s
), filled AS (
  UPDATE assignments_assignment a SET first_submission = chosen.id
    FROM chosen
   WHERE chosen.number = 1 AND a.organisation_id = chosen.organisation_id AND a.id = chosen.assignment_id
     AND a.first_submission IS NULL
)
SELECT id FROM chosen ORDER BY id DESC LIMIT 1
"""


def fill(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        last = (UUID(int=0),)
        while last:
            cursor.execute(FILL, (last[0], ROWS_AT_ONCE))
            last = cursor.fetchone()


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('accounts', '0014_idempotency_keys'),
        ('assignments', '0024_surplus_submissions'),
        ('traces', '0019_test_runs_of_earlier_traces'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='assignment',
            name='first_submission',
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('first_submission__isnull', False)), fields=['organisation', 'project', 'user', 'first_submission'], name='assignments_assignment_first'),
        ),
    ]
