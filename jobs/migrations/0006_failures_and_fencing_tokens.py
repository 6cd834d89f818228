from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0005_seconds_of_a_turn"),
    ]

    operations = [
        migrations.RenameField("job", "stumbles", "failures"),
        migrations.RenameField("job", "fence", "fencing_token"),
    ]
