"""The one page of exports that is no page: the file, to whoever may export."""

from base64 import b64encode
from uuid import UUID

from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from exports import storage
from exports.actions import note_download
from exports.models import Export
from tenancy.middleware import OrganisationRequest
from tenancy.permissions import requires
from tenancy.roles import Right


@requires(Right.EXPORT)
@require_safe
def download(request: OrganisationRequest, export_id: UUID) -> StreamingHttpResponse:
    """The file as it was hashed, while it is kept."""
    export = get_object_or_404(Export.objects.ready().select_related("project"), pk=export_id)
    note_download(export=export)
    return file_of(export)


def file_of(export: Export) -> StreamingHttpResponse:
    """The export's file, streamed from the storage piece by piece; never compressed again on its way."""
    names = [part["name"] for part in export.parts]
    response = StreamingHttpResponse(
        (block for name in names for block in storage.read(name)), content_type=export.media_type
    )
    response["Content-Disposition"] = f'attachment; filename="{export.file_name}"'
    response["Content-Length"] = str(export.bytes)
    response["Content-Encoding"] = "identity"
    response["ETag"] = f'"{export.sha256}"'
    response["Repr-Digest"] = f"sha-256=:{_base64_of(export.sha256)}:"
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _base64_of(sha256: str) -> str:
    return b64encode(bytes.fromhex(sha256)).decode("ascii")
