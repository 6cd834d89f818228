from django.db import migrations


class Migration(migrations.Migration):
    """The table is that of `rewards` now, which has renamed it: here only the model goes."""

    dependencies = [
        ('dashboard', '0002_statistics_of_process_rewards'),
        ('rewards', '0001_statistics_come_from_the_dashboard'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[],
            state_operations=[migrations.DeleteModel('RewardStatistics')],
        ),
    ]
