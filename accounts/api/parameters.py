"""Parameters of many routes, as the OpenAPI description tells them."""

from drf_spectacular.utils import OpenApiParameter

CURSOR = OpenApiParameter("cursor", str, description="From `next` or `previous` of another page.")
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description=(
        "1 to 100 visible ASCII characters. The same request again under the same key is done once, and answered the "
        "same for a day."
    ),
)
