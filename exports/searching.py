"""Searching exports."""

import string

from django.db.models import Q
from django.http import HttpRequest

from accounts.search.registry import Hit, Hits, SearchText, address
from accounts.search.sources import projects_with
from exports.models import Export
from potato.formats.registry import formats
from tenancy.roles import Right

_DIGITS = frozenset(string.hexdigits)


def find_exports(request: HttpRequest, text: SearchText, most: int) -> Hits:
    """By the format, the first digits of the file's SHA-256, or the id, in projects that the reader may export."""
    if text.is_narrowed:
        return Hits([])
    projects = projects_with(request, Right.EXPORT)
    rows = Export.objects.filter(project__in=list(projects)).defer("manifest")
    rows = rows.filter(pk=text.id) if text.id else rows.filter(*map(_has, text.words))
    exports = list(rows.order_by("-pk")[: most + 1])
    hits = [
        Hit(
            export.format,
            f"export of {projects[export.project_id].name}",
            f"{address(request, 'project-exports', project=projects[export.project_id].slug)}#export-{export.pk}",
            "download",
        )
        for export in exports[:most]
    ]
    return Hits(hits, len(exports) <= most)


def _has(word: str) -> Q:
    """Of exports: that the word is in the format's name, or begins the hash. Most words are in no format and no
    hash, and nothing is looked through for these."""
    has = Q(format__in=[name for name in formats() if word.casefold() in name])
    return has | Q(sha256__startswith=word.lower()) if _DIGITS.issuperset(word) else has
