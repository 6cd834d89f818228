"""Large contents, kept once an organisation: by the hash of what they say, compressed, behind the same policies."""

import json
from typing import Any, ClassVar

from django.db import models
from isal import igzip, isal_zlib
from pydantic_core import from_json

from potato.runs.exact_json import encoded_in_parts
from tenancy.constraints import TenantPolicy
from tenancy.models import TenantModel

_encoder = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_GZIP = 31
"""The window of zlib that has the head and the tail of gzip around it."""


def pack(value: Any) -> bytes:
    """JSON, compressed. All of Unicode beyond ASCII is escaped, so NUL and lone surrogates come back as they were."""
    packed: bytes = igzip.compress(_encoder.encode(value).encode("ascii"), 3, mtime=0)
    return packed


def pack_in_parts(value: dict[str, Any]) -> bytes:
    """The same of a large object, of which neither the text nor its bytes are made as a whole."""
    compressor = isal_zlib.compressobj(3, isal_zlib.DEFLATED, _GZIP)
    packed = [compressor.compress(part) for part in encoded_in_parts(value, _encoder)]
    return b"".join([*packed, compressor.flush()])


def unpack(packed: bytes | memoryview) -> Any:
    """The value that was packed. Pydantic's reader takes half the time of Python's (a file of 68 kB in 1.2 million
    instructions of the processor instead of 2.5), and refuses lone surrogates, which Python's takes."""
    text = igzip.decompress(packed)
    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)


class Body(TenantModel):
    """A JSON document by the SHA-256 of its canonical form: the change of a file, or the content of a step."""

    sha256 = models.CharField(max_length=64)
    packed = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="traces_body_org_id"),
            models.UniqueConstraint(fields=["organisation", "sha256"], name="traces_body_sha256"),
        ]

    def __str__(self) -> str:
        return self.sha256

    @property
    def content(self) -> Any:
        return unpack(self.packed)


class Picture(TenantModel):
    """A screenshot as WebP, whole and small, by the SHA-256 of the whole one. It never changes.

    `source_sha256` is the hash of the file that it was made of, so that the same file is not made anew: a later
    version of the program that packs it would give other bytes. `width` and `height` are those of that file.
    """

    MEDIA_TYPE: ClassVar[str] = "image/webp"

    sha256 = models.CharField(max_length=64)
    source_sha256 = models.CharField(max_length=64)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    whole = models.BinaryField()
    small = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints = [
            TenantPolicy(name="%(app_label)s_%(class)s_tenant", append_only=True),
            models.UniqueConstraint(fields=["organisation", "id"], name="traces_picture_org_id"),
            models.UniqueConstraint(fields=["organisation", "sha256"], name="traces_picture_sha256"),
        ]
        indexes = [models.Index(fields=["organisation", "source_sha256"], name="traces_picture_source")]

    def __str__(self) -> str:
        return self.sha256


class Fragment(TenantModel):
    """A piece of safe HTML, as it is sent: compressed, identical for every reader, made once and never changed.

    `view` says how the body is shown (unified, split, step), with which options, and with which file of an attached
    repository around it; `part` names the pieces of a body. A later version of the renderer makes new rows. `nodes` is
    how many a browser makes of it, 0 where nobody counted.
    """

    sha256 = models.CharField(max_length=64)
    render_version = models.PositiveIntegerField()
    view = models.CharField(max_length=100)
    part = models.CharField(max_length=60)
    rows = models.PositiveIntegerField()
    nodes = models.PositiveIntegerField(db_default=0)
    gzipped = models.BinaryField()

    while_frozen = "everything"

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["organisation", "sha256", "render_version", "view", "part"], name="traces_fragment_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.sha256[:12]} {self.view} {self.part}"

    @property
    def html(self) -> str:
        html: bytes = igzip.decompress(self.gzipped)
        return html.decode("utf-8")
