from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assignments', '0021_suggestions'),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='batch_number',
            field=models.PositiveIntegerField(null=True),
        ),
    ]
