"""An event whose subscriber failed is told again after a pause, and what was delivered is found to be purged."""

import django.utils.timezone
from django.db import migrations, models

# Which organisations the sweep has to look at: work that is open, events that wait, events to be purged.
# It tells the organisations' ids, and nothing else.
WITH_WORK = """
CREATE OR REPLACE FUNCTION jobs_organisations_with_work() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT organisation_id FROM jobs_job WHERE state IN ('queued', 'running')
  UNION
  SELECT organisation_id FROM jobs_outboxevent WHERE delivered_at IS NULL AND attempts < 10
  UNION
  SELECT organisation_id FROM jobs_outboxevent WHERE delivered_at < now() - interval '7 days'
$$
"""
BEFORE = """
CREATE OR REPLACE FUNCTION jobs_organisations_with_work() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT organisation_id FROM jobs_job WHERE state IN ('queued', 'running')
  UNION
  SELECT organisation_id FROM jobs_outboxevent WHERE delivered_at IS NULL
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboxevent",
            name="retry_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddIndex(
            model_name="outboxevent",
            index=models.Index(
                condition=models.Q(("delivered_at__isnull", False)),
                fields=["organisation", "delivered_at"],
                name="jobs_outboxevent_delivered",
            ),
        ),
        migrations.RunSQL(WITH_WORK, BEFORE),
    ]
