"""An import may be of many files, each with its own counts; it may be undone; and texts of tasks know who stated them."""

import django.db.models.deletion
import tenancy.actor
import tenancy.constraints
import tenancy.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_projects_are_archived_and_removed'),
        ('traces', '0007_statistics_while_importing'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportedMember',
            fields=[
                ('id', models.UUIDField(default=tenancy.models.new_id, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=500)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('chosen', models.CharField(blank=True, max_length=64)),
                ('reason', models.TextField(blank=True)),
                ('imported', models.PositiveIntegerField(default=0)),
                ('versions', models.PositiveIntegerField(default=0)),
                ('known', models.PositiveIntegerField(default=0)),
                ('errors', models.PositiveIntegerField(default=0)),
                ('stated', models.PositiveIntegerField(default=0)),
                ('is_over', models.BooleanField(default=False)),
            ],
            options={
                'ordering': ['number'],
                'abstract': False,
                'constraints': [
                    tenancy.constraints.TenantPolicy(name='traces_importedmember_tenant'),
                ],
            },
        ),
        migrations.AddField(
            model_name='importedfile',
            name='undone_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='importedfile',
            name='undone_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='importproblem',
            name='member',
            field=models.CharField(blank=True, db_default='', default='', max_length=500),
        ),
        migrations.AddField(
            model_name='tasktext',
            name='file',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='texts', to='traces.importedfile'),
        ),
        migrations.AddIndex(
            model_name='tasktext',
            index=models.Index(fields=['organisation', 'file'], name='traces_tasktext_file_idx'),
        ),
        migrations.AddIndex(
            model_name='trace',
            index=models.Index(fields=['organisation', 'project', 'instance_id'], name='traces_trace_instance'),
        ),
        migrations.AddConstraint(
            model_name='tasktext',
            constraint=tenancy.constraints.SameOrganisation(field='file', name='traces_tasktext_file'),
        ),
        migrations.AddField(
            model_name='importedmember',
            name='file',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='members', to='traces.importedfile'),
        ),
        migrations.AddField(
            model_name='importedmember',
            name='organisation',
            field=models.ForeignKey(db_index=False, default=tenancy.actor.active_organisation, editable=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.organisation'),
        ),
        migrations.AddConstraint(
            model_name='importedmember',
            constraint=models.UniqueConstraint(fields=('organisation', 'id'), name='traces_importedmember_org_id'),
        ),
        migrations.AddConstraint(
            model_name='importedmember',
            constraint=tenancy.constraints.SameOrganisation(field='file', name='traces_importedmember_file'),
        ),
        migrations.AddConstraint(
            model_name='importedmember',
            constraint=models.UniqueConstraint(fields=('organisation', 'file', 'number'), name='traces_importedmember_number'),
        ),
    ]
