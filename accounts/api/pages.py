"""Long lists in pages by the ids of their rows, which grow with time: no row is told twice or left out between two.

Refuses to count, and to jump.
"""

from typing import Any, TypeVar
from uuid import UUID

from django.db import models
from rest_framework.exceptions import ParseError
from rest_framework.request import Request

Listed = TypeVar("Listed", bound=models.Model)
Rows = TypeVar("Rows", bound="models.QuerySet[Any]")

ROWS_ON_A_PAGE = 100


def cursor_page(rows: "models.QuerySet[Listed]", request: Request) -> "tuple[str | None, str | None, list[Listed]]":
    """The page that `cursor` asks for, the oldest rows first, and the addresses of the next and the previous one.

    None where there is no such page. A cursor is a row's id, with a minus for the rows before it. Raises ParseError.
    """
    cursor = request.query_params.get("cursor", "")
    is_backwards = cursor.startswith("-")
    rows = rows.filter(pk__lt=_id(cursor.removeprefix("-"))) if is_backwards else rows_behind(rows, request)
    page = list(rows.order_by("-pk" if is_backwards else "pk")[: ROWS_ON_A_PAGE + 1])
    is_more, page = len(page) > ROWS_ON_A_PAGE, page[:ROWS_ON_A_PAGE]
    if is_backwards:
        page.reverse()
    if not page:
        return None, None, []
    has_next, has_previous = (True, is_more) if is_backwards else (is_more, bool(cursor))
    return (
        next_address(request, str(page[-1].pk)) if has_next else None,
        next_address(request, f"-{page[0].pk}") if has_previous else None,
        page,
    )


def rows_behind(rows: Rows, request: Request) -> Rows:
    """Those behind `cursor`, all where there is none. Raises ParseError."""
    cursor = request.query_params.get("cursor", "")
    return rows.filter(pk__gt=_id(cursor)) if cursor else rows


def next_address(request: Request, cursor: str) -> str:
    """The address that was asked, from another place on."""
    query = request.query_params.copy()
    query["cursor"] = cursor
    return request.build_absolute_uri(f"?{query.urlencode()}")


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ParseError("cursor is none that this address gave out.", code="invalid_request") from None
