"""TracePlaces is a trace's quota of slots, Desk a queue position, and fence the fencing token.

Constraints that name a renamed field go before it is renamed, and come back after it.
"""

from django.db import migrations, models
from django.db.models import F, Q

from tenancy.constraints import SameOrganisation, TenantPolicy

QUOTA_INDEXES = ("free", "undone")
QUOTA_CONSTRAINTS = ("tenant", "org_id", "trace", "project", "one_a_trace", "counted", "never_more", "enough")
POSITION_CONSTRAINTS = ("tenant", "org_id", "project", "one_a_person")


class Migration(migrations.Migration):
    dependencies = [
        ("assignments", "0005_transactions_of_withdrawals"),
        # Django renames the content types of renamed models, which it reads as that app's last migration left them.
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.RenameField("assignment", "fence", "fencing_token"),
        *(migrations.RemoveIndex("traceplaces", f"assignments_traceplaces_{name}") for name in QUOTA_INDEXES),
        *(migrations.RemoveConstraint("traceplaces", f"assignments_traceplaces_{name}") for name in QUOTA_CONSTRAINTS),
        *(migrations.RemoveConstraint("desk", f"assignments_desk_{name}") for name in POSITION_CONSTRAINTS),
        migrations.RenameModel("TracePlaces", "TraceQuota"),
        migrations.RenameField("tracequota", "live", "active"),
        migrations.RenameField("tracequota", "wanted", "target"),
        migrations.RenameField("tracequota", "places", "slots"),
        migrations.RenameModel("Desk", "QueuePosition"),
        migrations.AddIndex(
            "tracequota",
            models.Index(
                fields=["organisation", "project", "trace"],
                name="assignments_tracequota_free",
                condition=Q(active__lt=F("target") - F("done")),
            ),
        ),
        migrations.AddIndex(
            "tracequota",
            models.Index(
                fields=["organisation", "project", "trace"],
                name="assignments_tracequota_undone",
                condition=Q(done__lt=F("target")),
            ),
        ),
        *(
            migrations.AddConstraint("tracequota", constraint)
            for constraint in (
                TenantPolicy(name="assignments_tracequota_tenant"),
                models.UniqueConstraint(fields=["organisation", "id"], name="assignments_tracequota_org_id"),
                SameOrganisation(name="assignments_tracequota_trace", field="trace"),
                SameOrganisation(name="assignments_tracequota_project", field="project"),
                models.UniqueConstraint(fields=["organisation", "trace"], name="assignments_tracequota_one_a_trace"),
                models.CheckConstraint(
                    condition=Q(active__gte=0, done__gte=0), name="assignments_tracequota_counted"
                ),
                models.CheckConstraint(
                    condition=Q(slots__gte=F("active") + F("done")), name="assignments_tracequota_never_more"
                ),
                models.CheckConstraint(condition=Q(slots__gte=F("target")), name="assignments_tracequota_enough"),
            )
        ),
        *(
            migrations.AddConstraint("queueposition", constraint)
            for constraint in (
                TenantPolicy(name="assignments_queueposition_tenant"),
                models.UniqueConstraint(fields=["organisation", "id"], name="assignments_queueposition_org_id"),
                SameOrganisation(name="assignments_queueposition_project", field="project"),
                models.UniqueConstraint(
                    fields=["organisation", "project", "user"], name="assignments_queueposition_one_a_person"
                ),
            )
        ),
    ]
