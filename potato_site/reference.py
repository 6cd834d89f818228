"""Which pages of docs/ are made from the code, and by whom. They are files, and served nowhere."""

from django.conf import settings

from potato.configuration.key_reference import configuration_reference
from potato.formats.format_reference import formats_reference

PLACE = settings.BASE_DIR / "docs"


def references() -> dict[str, str]:
    """The text of each page, by its name in docs/."""
    return {"configuration-reference.md": configuration_reference(), "export-formats.md": formats_reference()}
