"""The parameters of these routes beside their paths and bodies, as the OpenAPI description tells them."""

from drf_spectacular.utils import OpenApiParameter

CURSOR = OpenApiParameter("cursor", str, description="From `next` or `previous` of another page.")
SURPLUS = OpenApiParameter(
    "surplus",
    str,
    enum=["0", "1"],
    description="1: with those that came late, when the trace had all the annotations it needs.",
)
MINE = OpenApiParameter("mine", str, enum=["0", "1"], description="1: the caller's own alone.")
LINES = [
    OpenApiParameter("file", str, required=True, description="The file's path."),
    OpenApiParameter("side", str, required=True, enum=["new", "old"]),
    OpenApiParameter("start", int, required=True, description="The first line, counted from 1."),
    OpenApiParameter("end", int, required=True, description="The last line."),
]
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    required=True,
    description="1 to 100 visible ASCII characters: new for each annotation, the same when a request is repeated.",
)
