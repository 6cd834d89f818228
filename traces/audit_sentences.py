"""What the audit trail says of imports, and where traces are to be found."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models.functions import Left

from accounts.models import Project
from accounts.models.projects import in_projects_with
from accounts.search.registry import address
from tenancy.roles import Right
from tenancy.sentences import Link
from traces.listing import first_line
from traces.models import Trace

IMPORTS = {
    "traces.import-requested": ("gave {file:“} to {target}, to be imported", "upload"),
    "traces.import-repeated": ("had {file:“} read again for {target}", "refresh-cw"),
    "traces.import-undone": ("undid the import of {file:“} into {target}[, which removed {traces:trace}]", "undo-2"),
    "traces.repository-attached": (
        "attached {file:“} with [{commits:commit}] of {repository:“} to {target}",
        "folder-git-2",
    ),
    "traces.repository-removed": ("removed {file:“} of {repository:“} from {target}", "trash-2"),
    "traces.imported": ("imported {file:“} into {target}", "upload"),
}
_TASK_START = 300


def trace_links(request: Any, keys: Collection[str]) -> Mapping[str, Link]:
    """Their names for everybody who may see the sentence; addresses where the reader may see the traces."""
    # Any: what is annotated.
    rows: Any = Trace.objects.filter(pk__in=keys).annotate(start=Left("task", _TASK_START))
    seen = in_projects_with(Trace.objects.filter(pk__in=keys), request.membership, Right.SEE_TRACES)
    addresses = {
        trace: address(request, "trace", project=slug, trace_id=trace)
        for trace, slug in seen.values_list("pk", "project__slug")
    }
    return {
        str(row.pk): Link(first_line(row.start) or str(row), addresses.get(row.pk, ""))
        for row in rows.defer("task", "report", "gaps")
    }


def by_project(model: Any, keys: Collection[str], request: Any, right: Right) -> Any:
    """Rows of these ids with their projects, of those in which the reader has the right."""
    projects = Project.objects.visible_to(request.membership).with_right(request.membership, right)
    return model.objects.filter(pk__in=keys, project__in=projects).select_related("project").defer("project__draft")
