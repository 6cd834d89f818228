"""The table of the statistics came into being in the dashboard, and moves here with its rows: only names change.

PostgreSQL renames in place. What looks for old statistics asks for submissions now, as the dashboard's rows are above.
"""

import django.db.models.deletion
from django.db import migrations, models

import tenancy.actor
import tenancy.constraints
import tenancy.models

RENAMED = """
DO $$
DECLARE
  found text;
BEGIN
  FOR found IN SELECT policyname FROM pg_policies WHERE schemaname = 'public' AND tablename = '{old}_rewardstatistics'
  LOOP
    EXECUTE format('ALTER POLICY %I ON {old}_rewardstatistics RENAME TO %I', found, replace(found, '{old}_', '{new}_'));
  END LOOP;
  -- The index of a key is renamed along.
  FOR found IN SELECT conname FROM pg_constraint WHERE conrelid = '{old}_rewardstatistics'::regclass
    AND starts_with(conname, '{old}_')
  LOOP
    EXECUTE format('ALTER TABLE {old}_rewardstatistics RENAME CONSTRAINT %I TO %I', found,
      replace(found, '{old}_', '{new}_'));
  END LOOP;
END $$;
ALTER TABLE {old}_rewardstatistics RENAME TO {new}_rewardstatistics;
"""

WITHOUT_OLD_FINDER = "DROP FUNCTION dashboard_organisations_with_old_statistics()"

# As in dashboard.0002, for the way back.
OLD_FINDER = """
CREATE FUNCTION dashboard_organisations_with_old_statistics() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT p.organisation_id FROM accounts_project p
  LEFT JOIN dashboard_rewardstatistics s ON s.organisation_id = p.organisation_id AND s.project_id = p.id
  WHERE (s.requested_at IS NULL OR s.requested_at < now() - interval '1 hour')
  AND EXISTS (
    SELECT FROM accounts_configurationversion v WHERE v.organisation_id = p.organisation_id AND v.project_id = p.id
    AND v.configuration @> '{"annotation_schemes": [{"annotation_type": "process_reward"}]}'
  ) AND EXISTS (
    SELECT FROM dashboard_countedannotation c WHERE c.organisation_id = p.organisation_id AND c.project_id = p.id
    AND c.submitted_at > coalesce(s.computed_at, '-infinity')
  )
$$
"""

# A version 7 UUID begins with 48 bits of milliseconds; the digits after them are the version's and the variant's.
FIRST_ID_AFTER = """
CREATE FUNCTION rewards_first_id_after(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(
    lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint + 1), 12, '0') || '70008000000000000000',
    repeat('0', 32)
  )::uuid
$$
"""

FINDER = """
CREATE FUNCTION rewards_organisations_with_old_statistics() RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT DISTINCT p.organisation_id FROM accounts_project p
  LEFT JOIN rewards_rewardstatistics s ON s.organisation_id = p.organisation_id AND s.project_id = p.id
  WHERE (s.requested_at IS NULL OR s.requested_at < now() - interval '1 hour')
  AND EXISTS (
    SELECT FROM accounts_configurationversion v WHERE v.organisation_id = p.organisation_id AND v.project_id = p.id
    AND v.configuration @> '{"annotation_schemes": [{"annotation_type": "process_reward"}]}'
  ) AND EXISTS (
    SELECT FROM assignments_submission b WHERE b.organisation_id = p.organisation_id AND b.project_id = p.id
    AND NOT b.is_surplus AND b.id >= rewards_first_id_after(s.computed_at)
  )
$$
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0003_api_tokens'),
        ('assignments', '0006_quotas_and_queue_positions'),
        ('dashboard', '0002_statistics_of_process_rewards'),
        ('jobs', '0002_outbox_pauses'),
    ]

    operations = [
        migrations.RunSQL(WITHOUT_OLD_FINDER, OLD_FINDER),
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    RENAMED.format(old='dashboard', new='rewards'), RENAMED.format(old='rewards', new='dashboard')
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name='RewardStatistics',
                    fields=[
                        ('id', models.UUIDField(default=tenancy.models.new_id, editable=False, primary_key=True, serialize=False)),
                        ('requested_at', models.DateTimeField(null=True)),
                        ('figures', models.JSONField(default=dict)),
                        ('computed_at', models.DateTimeField(null=True)),
                        ('job', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.job')),
                        ('organisation', models.ForeignKey(db_index=False, default=tenancy.actor.active_organisation, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation')),
                        ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.project')),
                    ],
                    options={
                        'abstract': False,
                        'constraints': [tenancy.constraints.TenantPolicy(name='rewards_rewardstatistics_tenant'), models.UniqueConstraint(fields=('organisation', 'id'), name='rewards_rewardstatistics_org_id'), tenancy.constraints.SameOrganisation(field='project', name='rewards_rewardstatistics_project'), tenancy.constraints.SameOrganisation(field='job', name='rewards_rewardstatistics_job'), models.UniqueConstraint(fields=('organisation', 'project'), name='rewards_rewardstatistics_one')],
                    },
                ),
            ],
        ),
        migrations.RunSQL(FIRST_ID_AFTER, "DROP FUNCTION rewards_first_id_after(timestamptz)"),
        migrations.RunSQL(FINDER, "DROP FUNCTION rewards_organisations_with_old_statistics()"),
    ]
