"""Jobs that were asked for before a job knew its queue, and are not over, go to the queue of their kind."""

from django.db import migrations

FILL = """
UPDATE jobs_job
   SET queue = CASE kind WHEN 'import_traces' THEN 'imports'
                         WHEN 'export_annotations' THEN 'exports'
                         WHEN 'compute_reward_statistics' THEN 'statistics'
                         ELSE queue END,
       waiting_since = created_at
 WHERE state IN ('queued', 'running')
"""


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0003_fair_turns"),
    ]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
