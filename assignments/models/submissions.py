"""What was submitted, what was taken back, and what reviewers decided. Rows are added and read, never changed."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, TypedDict
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery
from django.utils import timezone
from django_stubs_ext import WithAnnotations

from accounts.models import Project, User
from assignments.models.claims import Kind
from tenancy.actor import ActiveMembership, active_organisation
from tenancy.constraints import SameOrganisation, TenantPolicy
from tenancy.models import TenantModel
from tenancy.roles import Right
from tenancy.snapshots import Snapshot, transaction_id
from traces.models.bodies import unpack


class Outcome(models.TextChoices):
    """What was decided of an annotation.

    An accepted one counts as before. A returned one waits for its annotator, who submits again, and does not count; a
    voided one never counts again, and its slot is open. In place of a corrected one its correction counts.
    """

    ACCEPTED = "accepted", "Accepted"
    RETURNED = "returned", "Returned"
    CORRECTED = "corrected", "Corrected"
    VOIDED = "voided", "Void"
    UNDECIDED = "undecided", "Undecided"


UNDO = timedelta(seconds=30)
"""So long annotators may take back what they submitted."""
# The clock of a person who undoes at the last moment has shown the button a little longer than ours.
UNDO_WITH_GRACE = UNDO + timedelta(seconds=2)

UNDO_DECISION = timedelta(minutes=10)
"""So long who decided may take it back."""

OUT_OF_COUNTS = (Outcome.RETURNED, Outcome.VOIDED)
"""Decided so, a submission is in no count, no figure and no export. A corrected one is replaced as an older one is."""


class Withdrawn(TypedDict):
    """What `with_withdrawal` adds to a submission."""

    is_withdrawn: bool


class SubmissionQuerySet(models.QuerySet["Submission"]):
    def for_project(self, project: Project) -> "SubmissionQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def visible_to(self, membership: ActiveMembership, user: User) -> "SubmissionQuerySet":
        """Everybody's in the projects where the member may see them; elsewhere their own."""
        if membership.limited_to is None:
            if Right.SEE_ANNOTATIONS in membership.everywhere:
                return self
            if not membership.may(Right.SEE_ANNOTATIONS):
                return self.of(user)
        seen = Project.objects.with_right(membership, Right.SEE_ANNOTATIONS)
        own = Q(assignment__user=user)
        if membership.limited_to is not None:
            own &= Q(project__in=membership.limited_to)
        return self.filter(own | Q(project__in=seen))

    def of(self, user: User) -> "SubmissionQuerySet":
        return self.filter(assignment__user=user)

    def in_projects(self, projects: Collection[UUID]) -> "SubmissionQuerySet":
        """Those of several projects of the active organisation; said of the assignments, too, whose index it is in."""
        organisation = active_organisation()
        return self.filter(
            organisation=organisation,
            project__in=projects,
            assignment__organisation=organisation,
            assignment__project__in=projects,
        )

    def with_withdrawal(self) -> "models.QuerySet[WithAnnotations[Submission, Withdrawn]]":
        """Annotate whether it was taken back, as `is_withdrawn`."""
        return self.annotate(is_withdrawn=is_withdrawn())  # type: ignore[return-value]  # the name, not its type

    def with_state(self) -> "models.QuerySet[Any]":
        """Annotate what keeps it from counting: `is_withdrawn`, `is_replaced` by a newer one, `is_set_aside`."""
        return self.with_withdrawal().annotate(is_replaced=is_replaced(), is_set_aside=is_set_aside())

    def not_withdrawn(self) -> "SubmissionQuerySet":
        """Those that nobody has withdrawn."""
        return self.exclude(is_withdrawn())

    def newest(self) -> "SubmissionQuerySet":
        """Of each assignment the newest submission that is not withdrawn, whatever was decided of it."""
        return self.not_withdrawn().exclude(is_replaced())

    def with_surplus(self) -> "SubmissionQuerySet":
        """Of each assignment the newest submission that is not withdrawn, those beyond the target included, and
        neither those that were returned or voided nor those that only show how somebody works."""
        return self.not_set_aside().filter(is_check=False)

    def counted(self) -> "SubmissionQuerySet":
        """What exports, counts and statistics read unless they are asked for more."""
        return self.with_surplus().filter(is_surplus=False)

    def not_set_aside(self) -> "SubmissionQuerySet":
        """Of each assignment the newest submission that stands, without those that were returned or voided."""
        return self.newest().exclude(is_set_aside())

    def counted_for_person(self) -> "SubmissionQuerySet":
        """What counts, as its annotators are told it: tasks with a known answer among the others, without practice."""
        return self.submitted_by_person().filter(is_surplus=False)

    def submitted_by_person(self, *, with_surplus: bool = True) -> "SubmissionQuerySet":
        """The same, surplus ones too."""
        rows = self.not_set_aside() if with_surplus else self.not_set_aside().filter(is_surplus=False)
        return rows.exclude(is_check=True, assignment__kind=Kind.PRACTICE)

    def counted_at(self, snapshot: Snapshot) -> "SubmissionQuerySet":
        """Those that counted at that moment, whatever was submitted, taken back or decided since.

        What takes one out is asked row by row, along unique keys: joined, as NOT EXISTS is, whole tables would be read
        for each batch of a long export.
        """
        seen = snapshot.saw()

        def taken_back(submission: OuterRef) -> Subquery:
            rows = Withdrawal.objects.filter(seen, organisation=OuterRef("organisation"), submission=submission)
            return Subquery(rows.values("pk")[:1])

        later = (
            Submission.objects.filter(
                seen,
                organisation=OuterRef("organisation"),
                assignment=OuterRef("assignment"),
                number__gt=OuterRef("number"),
            )
            .alias(taken_back=taken_back(OuterRef("pk")))
            .filter(taken_back__isnull=True)
        )
        decided = Decision.objects.filter(seen, organisation=OuterRef("organisation"), submission=OuterRef("pk"))
        rows = self.filter(seen, is_surplus=False, is_check=False).alias(
            taken_back=taken_back(OuterRef("pk")),
            later=Subquery(later.values("pk")[:1]),
            decided=Subquery(decided.order_by("-number").values("outcome")[:1]),
        )
        counts = Q(decided__isnull=True) | ~Q(decided__in=OUT_OF_COUNTS)
        return rows.filter(counts, taken_back__isnull=True, later__isnull=True)


def is_withdrawn() -> Exists:
    """The condition of submissions that were taken back."""
    return Exists(Withdrawal.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk")))


def is_replaced() -> Exists:
    """The condition of submissions whose assignment has a newer one that stands."""
    return Exists(
        # None that is newer is the first. PostgreSQL is told, and reads the small index of later ones, not all.
        Submission.objects.not_withdrawn().filter(
            Q(number__gt=1),
            organisation=OuterRef("organisation"),
            assignment=OuterRef("assignment"),
            number__gt=OuterRef("number"),
        )
    )


def is_set_aside() -> Exists:
    """The condition of submissions whose newest decision is that they do not count."""
    later = Decision.objects.filter(
        organisation=OuterRef("organisation"), submission=OuterRef("submission"), number__gt=OuterRef("number")
    )
    out = Decision.objects.filter(
        organisation=OuterRef("organisation"), submission=OuterRef("pk"), outcome__in=OUT_OF_COUNTS
    )
    return Exists(out.exclude(Exists(later)))


class Submission(TenantModel):
    """One annotation as it was submitted: the result, keyed by scheme name, exact and immutable.

    `key` is the client's idempotency key and `request_sha256` the hash of what came with it: the same request again
    answers with this row. `is_surplus` says that no slot was free any more when it came, late. `is_check` says that it
    was made to see how its person works, and counts for nothing else. `active_seconds` is how long its person was at
    work on it, null where nobody knows. `via_token` says that a program submitted it, by a token that acts for the
    person. `batch_number` is the number of the batch in which its trace was then, null for one that was in none: where
    a trace is put later changes nothing of it, so that figures by batch can be computed again.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    assignment = models.ForeignKey(
        "assignments.Assignment",
        on_delete=models.PROTECT,
        related_name="submissions",
        db_index=False,
        db_constraint=False,
    )
    number = models.PositiveIntegerField()
    packed = models.BinaryField()
    submitted_at = models.DateTimeField(default=timezone.now)
    key = models.CharField(max_length=100)
    request_sha256 = models.CharField(max_length=64)
    is_surplus = models.BooleanField(default=False)
    is_check = models.BooleanField(default=False, db_default=False)
    active_seconds = models.PositiveIntegerField(null=True)
    via_token = models.BooleanField(default=False, db_default=False)
    batch_number = models.PositiveIntegerField(null=True)
    transaction = transaction_id()

    objects = SubmissionQuerySet.as_manager()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="assignments_submission_org_id"),
            SameOrganisation(name="assignments_submission_project", field="project"),
            SameOrganisation(name="assignments_submission_assignment", field="assignment"),
            models.UniqueConstraint(
                fields=["organisation", "assignment", "number"], name="assignments_submission_number"
            ),
            models.UniqueConstraint(fields=["organisation", "assignment", "key"], name="assignments_submission_key"),
            models.CheckConstraint(condition=Q(number__gte=1), name="assignments_submission_from_one"),
            models.CheckConstraint(condition=~Q(key=""), name="assignments_submission_has_key"),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "id"], name="assignments_submission_order"),
            # Few are; an export asks for them with each of its batches, and would read the index of all each time.
            models.Index(
                fields=["organisation", "assignment"], condition=Q(number__gt=1), name="assignments_submission_again"
            ),
            # As few; each page of a task asks which of all that the person has done are.
            models.Index(
                fields=["organisation", "assignment"],
                condition=Q(is_surplus=True),
                name="assignments_submission_surplus",
            ),
        ]

    def __str__(self) -> str:
        return f"submission {self.number}"

    @property
    def result(self) -> Any:
        return unpack(self.packed)


class Withdrawal(TenantModel):
    """A submission was taken back by its person, within the time for undoing."""

    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="withdrawals", db_index=False, db_constraint=False
    )
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(default=timezone.now)
    transaction = transaction_id()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="assignments_withdrawal_org_id"),
            SameOrganisation(name="assignments_withdrawal_submission", field="submission"),
            models.UniqueConstraint(fields=["organisation", "submission"], name="assignments_withdrawal_once"),
        ]

    def __str__(self) -> str:
        return f"withdrawal of {self.submission_id}"


class DecisionQuerySet(models.QuerySet["Decision"]):
    def for_project(self, project: Project) -> "DecisionQuerySet":
        return self.filter(organisation=project.organisation_id, project=project)

    def in_force(self) -> "DecisionQuerySet":
        """Of each submission the newest, unless that one took back all that was decided before it."""
        later = Decision.objects.filter(
            organisation=OuterRef("organisation"), submission=OuterRef("submission"), number__gt=OuterRef("number")
        )
        return self.exclude(Exists(later)).exclude(outcome=Outcome.UNDECIDED)


class Decision(TenantModel):
    """What a reviewer decided of a submission. The one with the highest number is in force.

    `takes_back` says that it takes the one before it back: its outcome is then the one that was in force before that,
    or UNDECIDED. `notes` are for the annotator, each with a text and, where it is about a place, a `path` with `side`
    and `line`, or a `step`. `until` is how long a returned annotation waits for its annotator, and `correction` is the
    submission that the reviewer has put in the place of a corrected one.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="decisions", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    takes_back = models.BooleanField(default=False)
    notes: "models.JSONField[list[dict[str, Any]]]" = models.JSONField(default=list)
    until = models.DateTimeField(null=True)
    correction = models.ForeignKey(
        Submission, on_delete=models.PROTECT, null=True, related_name="corrects", db_index=False, db_constraint=False
    )
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(default=timezone.now)
    transaction = transaction_id()

    objects = DecisionQuerySet.as_manager()

    erasable = ("notes",)

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="assignments_decision_org_id"),
            SameOrganisation(name="assignments_decision_project", field="project"),
            SameOrganisation(name="assignments_decision_submission", field="submission"),
            SameOrganisation(name="assignments_decision_correction", field="correction"),
            models.UniqueConstraint(
                fields=["organisation", "submission", "number"], name="assignments_decision_number"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="assignments_decision_from_one"),
            models.CheckConstraint(condition=Q(outcome__in=Outcome.values), name="assignments_decision_outcome"),
            models.CheckConstraint(
                condition=~Q(outcome=Outcome.UNDECIDED) | Q(takes_back=True), name="assignments_decision_undecided"
            ),
        ]
        indexes = [
            models.Index(fields=["organisation", "project", "id"], name="assignments_decision_order"),
            # What counts is asked of all annotations, and nearly none are returned or voided.
            models.Index(
                fields=["organisation", "submission"],
                name="assignments_decision_out",
                condition=Q(outcome__in=OUT_OF_COUNTS),
            ),
            # Along it PostgreSQL sees that nothing hangs on a submission that is removed.
            models.Index(
                fields=["organisation", "correction"],
                name="assignments_decision_corrects",
                condition=Q(correction__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_outcome_display()}, decision {self.number}"
