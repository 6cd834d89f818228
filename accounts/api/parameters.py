"""Parameters of many routes, as the OpenAPI description tells them."""

from collections.abc import Collection

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.api.bodies import InvalidRequest

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


def one_of(request: Request, name: str, values: Collection[str], *, default: str = "") -> str:
    """What the address says for a parameter that has few values, the default where it does not name it. Raises
    InvalidRequest for any other, an empty one too: a program would take all for what it asked."""
    value = request.query_params.get(name, default)
    if name in request.query_params and value not in values:
        raise InvalidRequest.at(name, f"{name} is one of {', '.join(values)}.")
    return value
