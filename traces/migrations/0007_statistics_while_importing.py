"""The worker may have the tables of traces counted, which is their owner's right; row-level security hides the figures."""

from django.db import migrations

ANALYZE = """
CREATE FUNCTION traces_analyze() RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  ANALYZE (SKIP_LOCKED) traces_trace, traces_tracestep, traces_tracefile, traces_body
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("traces", "0006_texts_of_tasks"),
    ]

    operations = [
        migrations.RunSQL(ANALYZE, "DROP FUNCTION traces_analyze()"),
    ]
