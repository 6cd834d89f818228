"""A suggested item as programs and the task page are told it."""

from potato.api.suggestions import SuggestedItem
from potato.schemes.suggested import Suggested


def shown_item(scheme: str, name: str, item: Suggested) -> SuggestedItem:
    """The item of a scheme under its id."""
    opinion, place = item.opinion, item.place
    return SuggestedItem(
        id=name,
        scheme=scheme,
        title=item.title,
        words=[choice.words for choice in opinion.choices] if opinion else [],
        number=opinion.number if opinion else None,
        text=opinion.text if opinion else "",
        replacement=opinion.replacement if opinion else None,
        at=list(item.at),
        value=dict(item.value),
        file=place.file if place else item.file,
        side=place.side if place else None,
        line_start=place.first if place else None,
        line_end=place.last if place else None,
        step=item.step,
    )
