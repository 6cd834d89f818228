from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Random


class Migration(migrations.Migration):

    dependencies = [
        ('gold', '0002_attempts_of_submissions'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # PostgreSQL throws it for each row that is there.
        migrations.AddField(
            model_name='expectedannotation',
            name='drawn',
            field=models.FloatField(db_default=Random(), editable=False),
        ),
        migrations.AddIndex(
            model_name='expectedannotation',
            index=models.Index(
                condition=models.Q(('retired_at__isnull', True), ('use', 'gold')),
                fields=['organisation', 'project', 'drawn'],
                name='gold_expected_in_turn',
            ),
        ),
    ]
