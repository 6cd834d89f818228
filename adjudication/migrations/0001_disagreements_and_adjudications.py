"""Disagreements of traces, and what adjudicators made of them."""

import django.db.models.deletion
import django.utils.timezone
import tenancy.actor
import tenancy.constraints
import tenancy.models
import tenancy.snapshots
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('accounts', '0011_adjudicators_of_projects'),
        ('assignments', '0017_reason_of_a_projects_pause'),
        ('traces', '0013_contents_go_with_an_undone_import'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.UUIDField(default=tenancy.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('items', models.JSONField(default=list)),
                ('tells', models.BooleanField(default=True)),
                ('replaced', models.JSONField(default=list)),
                ('decided_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('transaction', tenancy.snapshots.TransactionIdField(db_default=models.Func(function='pg_current_xact_id', output_field=tenancy.snapshots.TransactionIdField()), editable=False)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(db_index=False, default=tenancy.actor.active_organisation, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.project')),
                ('submission', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='assignments.submission')),
                ('trace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='traces.trace')),
            ],
            options={
                'abstract': False,
                'indexes': [
                    models.Index(fields=['organisation', 'project', 'id'], name='adjudication_adjudication_o'),
                    models.Index(fields=['organisation', 'trace'], name='adjudication_adjudication_t'),
                ],
                'constraints': [
                    tenancy.constraints.TenantPolicy(append_only=True, name='adjudication_adjudication_tenant'),
                    models.UniqueConstraint(fields=('organisation', 'id'), name='adjudication_adjudication_org_id'),
                    tenancy.constraints.SameOrganisation(field='project', name='adjudication_adjudication_project'),
                    tenancy.constraints.SameOrganisation(field='trace', name='adjudication_adjudication_trace'),
                    tenancy.constraints.SameOrganisation(field='submission', name='adjudication_adjudication_submission'),
                    models.UniqueConstraint(fields=('organisation', 'submission'), name='adjudication_adjudication_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Disagreement',
            fields=[
                ('id', models.UUIDField(default=tenancy.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('annotations', models.PositiveIntegerField()),
                ('weight', models.FloatField(default=0)),
                ('questions', models.PositiveIntegerField(default=0)),
                ('differing', models.PositiveIntegerField(default=0)),
                ('deciding', models.PositiveIntegerField(default=0)),
                ('words', models.JSONField(default=list)),
                ('conflicts', models.JSONField(default=list)),
                ('has_conflict', models.BooleanField(default=False)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('computed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('organisation', models.ForeignKey(db_index=False, default=tenancy.actor.active_organisation, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation')),
                ('project', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.project')),
                ('trace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='traces.trace')),
            ],
            options={
                'abstract': False,
                'indexes': [
                    models.Index(fields=['organisation', 'project', '-weight'], name='adjudication_disagreement_w'),
                    models.Index(condition=models.Q(('has_conflict', True)), fields=['organisation', 'project'], name='adjudication_disagreement_c'),
                ],
                'constraints': [
                    tenancy.constraints.TenantPolicy(name='adjudication_disagreement_tenant'),
                    models.UniqueConstraint(fields=('organisation', 'id'), name='adjudication_disagreement_org_id'),
                    tenancy.constraints.SameOrganisation(field='project', name='adjudication_disagreement_project'),
                    tenancy.constraints.SameOrganisation(field='trace', name='adjudication_disagreement_trace'),
                    models.UniqueConstraint(fields=('organisation', 'trace'), name='adjudication_disagreement_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Side',
            fields=[
                ('id', models.UUIDField(default=tenancy.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('parts', models.PositiveIntegerField()),
                ('same', models.PositiveIntegerField()),
                ('adjudication', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='sides', to='adjudication.adjudication')),
                ('organisation', models.ForeignKey(db_index=False, default=tenancy.actor.active_organisation, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation')),
                ('submission', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='assignments.submission')),
            ],
            options={
                'abstract': False,
                'indexes': [
                    models.Index(fields=['organisation', 'submission'], name='adjudication_side_of'),
                ],
                'constraints': [
                    tenancy.constraints.TenantPolicy(append_only=True, name='adjudication_side_tenant'),
                    models.UniqueConstraint(fields=('organisation', 'id'), name='adjudication_side_org_id'),
                    tenancy.constraints.SameOrganisation(field='adjudication', name='adjudication_side_adjudication'),
                    tenancy.constraints.SameOrganisation(field='submission', name='adjudication_side_submission'),
                    models.UniqueConstraint(fields=('organisation', 'adjudication', 'submission'), name='adjudication_side_once'),
                    models.CheckConstraint(condition=models.Q(('same__lte', models.F('parts'))), name='adjudication_side_counted'),
                ],
            },
        ),
    ]
