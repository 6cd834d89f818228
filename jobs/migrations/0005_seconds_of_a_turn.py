"""A job keeps its place before those of its own organisation until it has had a turn's time."""

from django.db import migrations, models

AWAITED = """
CREATE FUNCTION jobs_turn_is_awaited(
    queues text[], kinds text[], heavy text[], most integer, silence interval, present uuid, by_its_own boolean)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM jobs_waiting_organisations(queues, kinds, heavy) w
                  WHERE CASE WHEN w.organisation = present THEN by_its_own
                             ELSE cardinality(heavy) = 0 OR w.running < most END)
      OR EXISTS (SELECT FROM jobs_job j
                  WHERE j.state = 'running' AND j.queue = ANY (queues) AND j.kind = ANY (kinds)
                    AND (j.lease_until < clock_timestamp() OR j.heartbeat_at < clock_timestamp() - silence))
$$
"""
BEFORE = """
CREATE FUNCTION jobs_turn_is_awaited(
    queues text[], kinds text[], heavy text[], most integer, silence interval, present uuid)
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM jobs_waiting_organisations(queues, kinds, heavy) w
                  WHERE cardinality(heavy) = 0 OR w.organisation = present OR w.running < most)
      OR EXISTS (SELECT FROM jobs_job j
                  WHERE j.state = 'running' AND j.queue = ANY (queues) AND j.kind = ANY (kinds)
                    AND (j.lease_until < clock_timestamp() OR j.heartbeat_at < clock_timestamp() - silence))
$$
"""
DROP = "DROP FUNCTION jobs_turn_is_awaited(text[], text[], text[], integer, interval, uuid)"


class Migration(migrations.Migration):

    dependencies = [
        ("jobs", "0004_queues_of_open_jobs"),
    ]

    operations = [
        migrations.AddField("job", "turn_seconds", models.FloatField(default=0)),
        migrations.RunSQL(DROP, BEFORE),
        migrations.RunSQL(
            AWAITED, "DROP FUNCTION jobs_turn_is_awaited(text[], text[], text[], integer, interval, uuid, boolean)"
        ),
    ]
