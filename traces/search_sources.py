"""Searching files that traces came from."""

from django.http import HttpRequest

from accounts.search.registry import Hit, Hits, SearchText, address
from accounts.search.sources import every_word, projects_with
from tenancy.roles import Right
from traces.models import ImportedFile


def find_imports(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """By the file's name or its id, in projects that the reader may import into."""
    if text.is_narrowed:
        return Hits([])
    projects = projects_with(request, Right.IMPORT_TRACES)
    rows = ImportedFile.objects.filter(project__in=list(projects))
    rows = rows.filter(pk=text.id) if text.id else rows.filter(every_word(text, "name"))
    files = list(rows.order_by("-pk")[: most + 1])
    hits = [
        Hit(
            file.name,
            f"imported into {projects[file.project_id].name}",
            address(request, "import", project=projects[file.project_id].slug, file_id=file.pk),
            "upload",
        )
        for file in files[:most]
    ]
    return Hits(hits, len(files) <= most)
