"""Storing rows whose names are checked first: what two requests do with one name at once."""

from django.db import IntegrityError, transaction
from django.db.models import Model


def store_checked(row: Model, *, fields: list[str] | None = None) -> None:
    """Check the row and store it, of a row that is there already only these fields where they are given. Raises
    ValidationError for what the row must not be, and for a name that another request took between check and storing."""
    row.full_clean()
    try:
        with transaction.atomic():
            row.save(update_fields=fields)
    except IntegrityError:
        row.full_clean()  # It sees now what the other one has stored.
        raise
