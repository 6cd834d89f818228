"""Pictures that tools gave back are kept, and go with the last trace that has them, as screenshots do."""

from django.db import migrations, models

WITH_SCREENSHOTS = """
CREATE OR REPLACE FUNCTION traces_remove(wanted uuid[]) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  within uuid := app_organisation();
  removed integer;
  contents varchar[];
  shots varchar[];
BEGIN
  SELECT array_agg(DISTINCT sha256) INTO contents FROM (
    SELECT content_sha256 AS sha256 FROM traces_trace WHERE organisation_id = within AND id = ANY (wanted)
    UNION ALL
    SELECT sha256 FROM traces_tracestep WHERE organisation_id = within AND trace_id = ANY (wanted)
    UNION ALL
    SELECT sha256 FROM traces_tracefile WHERE organisation_id = within AND trace_id = ANY (wanted)
  ) AS those;
  SELECT array_agg(DISTINCT picture) INTO shots FROM traces_tracestep
    WHERE organisation_id = within AND trace_id = ANY (wanted) AND picture <> '';
  DELETE FROM traces_tracestep WHERE organisation_id = within AND trace_id = ANY (wanted);
  DELETE FROM traces_tracefile WHERE organisation_id = within AND trace_id = ANY (wanted);
  -- A trace that anything else refers to stays: the foreign keys of those tables refuse it.
  DELETE FROM traces_trace WHERE organisation_id = within AND id = ANY (wanted);
  GET DIAGNOSTICS removed = ROW_COUNT;
  SELECT array_agg(free.sha256) INTO contents FROM unnest(contents) AS free (sha256)
    WHERE NOT EXISTS (SELECT FROM traces_trace WHERE organisation_id = within AND content_sha256 = free.sha256)
      AND NOT EXISTS (SELECT FROM traces_tracestep s WHERE s.organisation_id = within AND s.sha256 = free.sha256)
      AND NOT EXISTS (SELECT FROM traces_tracefile f WHERE f.organisation_id = within AND f.sha256 = free.sha256);
  DELETE FROM traces_fragment WHERE organisation_id = within AND sha256 = ANY (contents);
  DELETE FROM traces_body WHERE organisation_id = within AND sha256 = ANY (contents);
  DELETE FROM traces_picture p WHERE p.organisation_id = within AND p.sha256 = ANY (shots) AND NOT EXISTS (
    SELECT FROM traces_tracestep s WHERE s.organisation_id = within AND s.picture = p.sha256 AND s.picture <> ''
  );
  RETURN removed;
END
$$
"""
WITH_ALL_PICTURES = """
CREATE OR REPLACE FUNCTION traces_remove(wanted uuid[]) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  within uuid := app_organisation();
  removed integer;
  contents varchar[];
  shots varchar[];
BEGIN
  SELECT array_agg(DISTINCT sha256) INTO contents FROM (
    SELECT content_sha256 AS sha256 FROM traces_trace WHERE organisation_id = within AND id = ANY (wanted)
    UNION ALL
    SELECT sha256 FROM traces_tracestep WHERE organisation_id = within AND trace_id = ANY (wanted)
    UNION ALL
    SELECT sha256 FROM traces_tracefile WHERE organisation_id = within AND trace_id = ANY (wanted)
  ) AS those;
  SELECT array_agg(DISTINCT sha256) INTO shots FROM (
    SELECT picture AS sha256 FROM traces_tracestep
      WHERE organisation_id = within AND trace_id = ANY (wanted) AND picture <> ''
    UNION ALL
    SELECT jsonb_array_elements_text(result_pictures) FROM traces_tracestep
      WHERE organisation_id = within AND trace_id = ANY (wanted) AND result_pictures <> '[]'
  ) AS those;
  DELETE FROM traces_tracestep WHERE organisation_id = within AND trace_id = ANY (wanted);
  DELETE FROM traces_tracefile WHERE organisation_id = within AND trace_id = ANY (wanted);
  -- A trace that anything else refers to stays: the foreign keys of those tables refuse it.
  DELETE FROM traces_trace WHERE organisation_id = within AND id = ANY (wanted);
  GET DIAGNOSTICS removed = ROW_COUNT;
  SELECT array_agg(free.sha256) INTO contents FROM unnest(contents) AS free (sha256)
    WHERE NOT EXISTS (SELECT FROM traces_trace WHERE organisation_id = within AND content_sha256 = free.sha256)
      AND NOT EXISTS (SELECT FROM traces_tracestep s WHERE s.organisation_id = within AND s.sha256 = free.sha256)
      AND NOT EXISTS (SELECT FROM traces_tracefile f WHERE f.organisation_id = within AND f.sha256 = free.sha256);
  DELETE FROM traces_fragment WHERE organisation_id = within AND sha256 = ANY (contents);
  DELETE FROM traces_body WHERE organisation_id = within AND sha256 = ANY (contents);
  DELETE FROM traces_picture p WHERE p.organisation_id = within AND p.sha256 = ANY (shots) AND NOT EXISTS (
    SELECT FROM traces_tracestep s WHERE s.organisation_id = within AND s.picture = p.sha256 AND s.picture <> ''
  ) AND p.sha256 NOT IN (
    SELECT jsonb_array_elements_text(s.result_pictures) FROM traces_tracestep s
      WHERE s.organisation_id = within AND s.result_pictures <> '[]' AND s.result_pictures ?| shots
  );
  RETURN removed;
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [("traces", "0019_test_runs_of_earlier_traces")]

    operations = [
        migrations.AddField(
            model_name="tracestep",
            name="result_pictures",
            field=models.JSONField(default=list, db_default=[]),
        ),
        migrations.AddIndex(
            model_name="tracestep",
            index=models.Index(
                condition=models.Q(("result_pictures", []), _negated=True),
                fields=["organisation", "trace"],
                name="traces_tracestep_pictures",
            ),
        ),
        migrations.RunSQL(WITH_ALL_PICTURES, WITH_SCREENSHOTS),
    ]
