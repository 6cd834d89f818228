"""A column of chance in whose order claims look for gold, so that they read as much of it however much there is."""

import django.contrib.postgres.functions
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0014_idempotency_keys'),
        ('gold', '0002_attempts_of_submissions'),
        ('traces', '0018_reports_of_tests_and_checkers'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='expectedannotation',
            name='draw',
            field=models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False),
        ),
        migrations.RemoveIndex(
            model_name='expectedannotation',
            name='gold_expected_of_project',
        ),
        migrations.AddIndex(
            model_name='expectedannotation',
            index=models.Index(fields=['organisation', 'project', 'use', 'draw'], name='gold_expected_drawn'),
        ),
    ]
