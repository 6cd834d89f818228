"""Workers choose whose turn it is over all organisations, so a job knows its queue, and since when it waits."""

import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

# For each organisation with due work in these queues: how many heavy jobs it runs, when its last turn began, and
# since when its first job waits. Organisations are walked from one to the next in the index, so that ten thousand
# waiting jobs of one cost no more than one.
WAITING = """
CREATE FUNCTION jobs_waiting_organisations(queues text[], kinds text[], heavy text[])
RETURNS TABLE (organisation uuid, running bigint, last_turn timestamptz, waiting_since timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH RECURSIVE organisations AS (
    (SELECT organisation_id AS id FROM jobs_job WHERE state = 'queued' ORDER BY organisation_id LIMIT 1)
    UNION ALL
    SELECT (SELECT j.organisation_id FROM jobs_job j WHERE j.state = 'queued' AND j.organisation_id > o.id
             ORDER BY j.organisation_id LIMIT 1)
      FROM organisations o WHERE o.id IS NOT NULL
  )
  SELECT o.id,
         (SELECT count(*) FROM jobs_job j
           WHERE j.organisation_id = o.id AND j.state = 'running' AND j.queue = ANY (heavy)),
         (SELECT max(latest.turn_at) FROM unnest(queues) AS q(name) CROSS JOIN LATERAL (
            SELECT j.turn_at FROM jobs_job j
             WHERE j.organisation_id = o.id AND j.queue = q.name AND j.turn_at IS NOT NULL
             ORDER BY j.turn_at DESC LIMIT 1) latest),
         first.waiting_since
    FROM organisations o CROSS JOIN LATERAL (
      SELECT min(oldest.waiting_since) AS waiting_since FROM unnest(queues) AS q(name) CROSS JOIN LATERAL (
        SELECT j.waiting_since FROM jobs_job j
         WHERE j.organisation_id = o.id AND j.queue = q.name AND j.state = 'queued'
           AND j.run_at <= clock_timestamp() AND j.kind = ANY (kinds)
         ORDER BY j.waiting_since LIMIT 1) oldest) first
   WHERE first.waiting_since IS NOT NULL
$$
"""

# The job whose turn it is, locked for the caller; ids, and nothing else. A row of NULLs says that somebody else is
# choosing for this worker, or for an organisation whose turn it might be: look again. Nobody waits for anybody here.
# Each statement sees what was committed before it, so under the locks of worker and organisation the counts are exact:
# `most` of an organisation run at all, `most_here` of them on this worker, and `all_here` of everybody on this worker.
TAKE = """
CREATE FUNCTION jobs_take_turn(
    queues text[], kinds text[], heavy text[], most integer, worker_name text, most_here integer,
    all_here integer, silence interval, lost_message text)
RETURNS TABLE (job uuid, organisation uuid, person uuid)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  lost record;
  next_one record;
  held bigint;
  held_here bigint;
  somebody_chooses boolean := false;
BEGIN
  FOR lost IN
    SELECT j.id, j.organisation_id, j.created_by_id,
           j.lease_until IS NULL OR j.lease_until < clock_timestamp() AS is_over
      FROM jobs_job j
     WHERE j.state = 'running' AND j.queue = ANY (queues) AND j.kind = ANY (kinds)
       AND (j.lease_until IS NULL OR j.lease_until < clock_timestamp()
            OR j.heartbeat_at < clock_timestamp() - silence
            OR (lost_message <> '' AND j.message = lost_message))
     ORDER BY j.heartbeat_at
       FOR NO KEY UPDATE SKIP LOCKED
  LOOP
    -- A part holds this lock as long as its transaction lives (jobs.runner).
    IF lost.is_over OR pg_try_advisory_xact_lock(hashtextextended(lost.id::text, 0)) THEN
      RETURN QUERY SELECT lost.id, lost.organisation_id, lost.created_by_id;
      RETURN;
    END IF;
  END LOOP;
  IF cardinality(heavy) > 0 THEN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('turns of ' || worker_name, 0)) THEN
      RETURN QUERY SELECT NULL::uuid, NULL::uuid, NULL::uuid;
      RETURN;
    END IF;
    SELECT count(*) INTO held
      FROM jobs_job j WHERE j.state = 'running' AND j.worker = worker_name AND j.queue = ANY (heavy);
    IF held >= all_here THEN
      RETURN;
    END IF;
  END IF;
  FOR next_one IN
    SELECT w.organisation AS id FROM jobs_waiting_organisations(queues, kinds, heavy) w
     WHERE cardinality(heavy) = 0 OR w.running < most
     ORDER BY w.running, w.last_turn NULLS FIRST, w.waiting_since
  LOOP
    IF cardinality(heavy) > 0 THEN
      IF NOT pg_try_advisory_xact_lock(hashtextextended('turn of ' || next_one.id, 0)) THEN
        somebody_chooses := true;
        CONTINUE;
      END IF;
      SELECT count(*), count(*) FILTER (WHERE j.worker = worker_name) INTO held, held_here
        FROM jobs_job j
       WHERE j.organisation_id = next_one.id AND j.state = 'running' AND j.queue = ANY (heavy);
      CONTINUE WHEN held >= most OR held_here >= most_here;
    END IF;
    RETURN QUERY
      SELECT oldest.id, next_one.id, oldest.created_by_id
        FROM unnest(queues) AS q(name) CROSS JOIN LATERAL (
          SELECT j.id, j.created_by_id, j.waiting_since FROM jobs_job j
           WHERE j.organisation_id = next_one.id AND j.queue = q.name AND j.state = 'queued'
             AND j.run_at <= clock_timestamp() AND j.kind = ANY (kinds)
           ORDER BY j.waiting_since LIMIT 1
             FOR NO KEY UPDATE SKIP LOCKED) oldest
       ORDER BY oldest.waiting_since LIMIT 1;
    IF FOUND THEN
      RETURN;
    END IF;
  END LOOP;
  IF somebody_chooses THEN
    RETURN QUERY SELECT NULL::uuid, NULL::uuid, NULL::uuid;
  END IF;
END $$
"""

AWAITED = """
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

WITH_WORK = """
CREATE FUNCTION jobs_queues_with_work(silence interval) RETURNS TABLE (queue text, jobs bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT j.queue::text, count(*) FROM jobs_job j
   WHERE j.state = 'queued' AND j.run_at <= clock_timestamp()
      OR j.state = 'running' AND (j.lease_until IS NULL OR j.lease_until < clock_timestamp()
                                  OR j.heartbeat_at < clock_timestamp() - silence)
   GROUP BY j.queue
$$
"""


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0001_initial"),
        ("jobs", "0002_outbox_pauses"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("job", "queue", models.CharField(default="interactive", max_length=20)),
        migrations.AddField("job", "waiting_since", models.DateTimeField(default=django.utils.timezone.now)),
        migrations.AddField("job", "turn_at", models.DateTimeField(null=True)),
        migrations.AddField("job", "worker", models.CharField(blank=True, max_length=200)),
        migrations.AddField("job", "message", models.CharField(blank=True, max_length=64)),
        migrations.RemoveField("job", "rung_at"),
        migrations.AddIndex(
            "job",
            models.Index(
                condition=models.Q(("state", "queued")),
                fields=["organisation", "queue", "waiting_since"],
                name="jobs_job_waiting",
            ),
        ),
        migrations.AddIndex(
            "job",
            models.Index(
                condition=models.Q(("state", "running")), fields=["organisation", "worker"], name="jobs_job_running"
            ),
        ),
        migrations.AddIndex(
            "job",
            models.Index(
                condition=models.Q(("turn_at__isnull", False)),
                fields=["organisation", "queue", "-turn_at"],
                name="jobs_job_turns",
            ),
        ),
        migrations.RunSQL(WAITING, "DROP FUNCTION jobs_waiting_organisations(text[], text[], text[])"),
        migrations.RunSQL(
            TAKE, "DROP FUNCTION jobs_take_turn(text[], text[], text[], integer, text, integer, integer, interval, text)"
        ),
        migrations.RunSQL(
            AWAITED, "DROP FUNCTION jobs_turn_is_awaited(text[], text[], text[], integer, interval, uuid)"
        ),
        migrations.RunSQL(WITH_WORK, "DROP FUNCTION jobs_queues_with_work(interval)"),
    ]
