"""What was submitted before the batch was kept is of the batch in which its trace is now."""

from uuid import UUID

from django.db import migrations

ROWS_AT_ONCE = 20_000
FILL = """
WITH chosen AS (
  SELECT id, organisation_id, assignment_id FROM assignments_submission WHERE id > %s ORDER BY id LIMIT %s
), filled AS (
  UPDATE assignments_submission s SET batch_number = b.number
    FROM chosen
    JOIN assignments_assignment a ON a.organisation_id = chosen.organisation_id AND a.id = chosen.assignment_id
    JOIN assignments_tracequota q ON q.organisation_id = a.organisation_id AND q.trace_id = a.trace_id
    JOIN assignments_batch b ON b.id = q.batch_id
   WHERE s.id = chosen.id AND s.batch_number IS NULL
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

    dependencies = [("assignments", "0022_batches_of_submissions")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
