"""How large an export will be, before anybody waits for it: one query, and what earlier ones of the format came to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.db.models.functions import Length

from accounts.models import Project
from assignments.filtering import filtered
from assignments.models import Kind, Submission, Withdrawal
from assignments.models.submissions import is_set_aside
from exports.actions import exportable_options
from exports.counting import kind_of_assignments
from exports.models import Export
from exports.policies import Usage, usage
from exports.source_answers import count_answers
from potato.formats.options import read_options
from potato.formats.registry import format_named
from potato.runs.run_files import in_words
from potato.wording import counted

# How large a record is as text beside how it is stored, where no earlier export of the format says better.
_TEXT_TO_STORED = 3.0

_LEFT_OUT = {
    "set_aside": "returned or void",
    "not_adjudicated": "not adjudicated",
    "by_adjudicators": "by adjudicators",
}


@dataclass(frozen=True)
class Estimate:
    """`records` are annotations that are read, and `answers` those of automated sources; `rows` and `bytes` of the file
    are None where nothing lets them be told.

    `left_out` says how many annotations do not count and why: withdrawn, replaced by a newer one,
    set_aside (returned or voided), surplus, filtered, and not_adjudicated or by_adjudicators where the others alone are
    read.
    """

    records: int
    answers: int
    rows: int | None
    bytes: int | None
    left_out: dict[str, int]
    is_by_earlier_export: bool
    usage: Usage

    @property
    def sentence(self) -> str:
        if not self.records + self.answers:
            return f"Nothing would be exported. {self.left_out_in_words}".strip()
        rows = "" if self.rows is None else f", about {counted(self.rows, 'row')}"
        size = "" if self.bytes is None else f", about {in_words(self.bytes)}"
        how = "as the last export of this format" if self.is_by_earlier_export else "roughly"
        answers = f" and {counted(self.answers, 'answer')} of automated sources" if self.answers else ""
        size_in_words = f"{counted(self.records, 'annotation')}{answers}{rows}{size} ({how})."
        return f"{size_in_words} {self.left_out_in_words}".strip()

    @property
    def left_out_in_words(self) -> str:
        named = [f"{many:,} {_LEFT_OUT.get(reason, reason)}" for reason, many in self.left_out.items() if many]
        return f"Left out: {', '.join(named)}." if named else ""

    def as_json(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "answers": self.answers,
            "rows": self.rows,
            "bytes": self.bytes,
            "left_out": self.left_out,
            "is_by_earlier_export": self.is_by_earlier_export,
            "sentence": self.sentence,
            "used_bytes": self.usage.used,
            "quota_bytes": self.usage.quota,
            "is_quota_amber": self.usage.is_amber,
            "quota_sentence": self.usage.sentence,
        }


def estimate_export(*, project: Project, format: str, options: Mapping[str, Any]) -> Estimate:
    """What such an export would come to now. Raises NotExportable as asking for it does."""
    chosen = exportable_options(project=project, format=format, options=options)
    filters = read_options(format_named(format).options, chosen).filters
    rows = Submission.objects.for_project(project).filter(is_check=False)
    withdrawals = Withdrawal.objects.filter(organisation=OuterRef("organisation"), submission=OuterRef("pk"))
    taken_back = Q(Exists(withdrawals))
    passing = filtered(Submission.objects.for_project(project), project, filters) if filters else None
    passes = Q(Exists(passing.filter(pk=OuterRef("pk")))) if passing is not None else Q()
    later = Submission.objects.not_withdrawn().filter(
        organisation=OuterRef("organisation"), assignment=OuterRef("assignment"), number__gt=OuterRef("number")
    )
    replaced, set_aside = Q(Exists(later)), Q(is_set_aside())
    stands = ~taken_back & ~replaced & ~set_aside
    counts = stands & Q(is_surplus=False)
    kind = kind_of_assignments(chosen.get("resolve", "all"))
    wanted = Q(assignment__kind=kind) if kind else Q()
    counted_rows = rows.aggregate(
        withdrawn=Count("pk", filter=taken_back),
        replaced=Count("pk", filter=~taken_back & replaced),
        set_aside=Count("pk", filter=~taken_back & ~replaced & set_aside),
        surplus=Count("pk", filter=stands & Q(is_surplus=True)),
        counted=Count("pk", filter=counts),
        passing=Count("pk", filter=counts & passes),
        records=Count("pk", filter=counts & passes & wanted),
        stored=Sum(Length("packed"), filter=counts & passes & wanted),
    )
    records, stored = counted_rows["records"], counted_rows["stored"] or 0
    of_others = counted_rows["passing"] - records
    answers, stored_answers = count_answers(project, filters)
    filtered_out = counted_rows["counted"] - counted_rows["passing"]
    if not filters.people:
        records = stored = of_others = 0
        filtered_out = counted_rows["counted"]
    stored += stored_answers
    left_out = {
        "withdrawn": counted_rows["withdrawn"],
        "replaced": counted_rows["replaced"],
        "set_aside": counted_rows["set_aside"],
        "surplus": counted_rows["surplus"],
        "filtered": filtered_out,
        "not_adjudicated" if kind == Kind.ADJUDICATION else "by_adjudicators": of_others,
    }
    left_out = {reason: many for reason, many in left_out.items() if many}
    earlier = _earlier(project, format, chosen)
    if earlier is not None:
        share = (records + answers) / earlier.manifest["records"]
        rows_of_file, size = round(earlier.rows * share), round(earlier.bytes * share)
        return Estimate(records, answers, rows_of_file, size, left_out, True, usage())
    size = round(stored * _TEXT_TO_STORED) if chosen.get("compression", "none") == "none" else stored
    return Estimate(records, answers, None, size, left_out, False, usage())


def _earlier(project: Project, format: str, chosen: Mapping[str, Any]) -> Export | None:
    """The last finished export of the format that was packed and resolved alike, of the same sources."""
    alike = ("resolve", "compression", "sources", "people")
    last = Export.objects.for_project(project).filter(format=format, ready_at__isnull=False, manifest__records__gt=0)
    for export in last.only("options", "manifest", "rows", "bytes").order_by("-ready_at")[:10]:
        if all(export.options.get(name) == chosen.get(name) for name in alike):
            return export
    return None
