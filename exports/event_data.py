"""What other programs are told of exports: ids, figures and the link to the file."""

from collections.abc import Mapping
from typing import Any

from exports.models import Export
from webhooks.events import Description, link


def export_finished(payload: Mapping[str, Any]) -> Description | None:
    export = Export.objects.ready().filter(pk=payload["export"]).first()
    if export is None:
        return None
    return {
        "export": export.pk,
        "format": export.format,
        "rows": export.rows,
        "bytes": export.bytes,
        "sha256": export.sha256,
        "expires_at": export.expires_at,
        "schedule": export.schedule_id,
        "link": link(export.organisation_id, "export-file", export_id=export.pk),
    }
