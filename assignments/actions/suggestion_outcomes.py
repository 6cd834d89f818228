"""What a submission says of the suggestions that its annotator was shown."""

from typing import Any

from assignments.actions.correcting import corrected_by
from assignments.models import Assignment
from assignments.suggestions.showing import shown_suggestion
from potato.records.annotations import suggestions_in
from potato.schemes.answers import Incomplete
from potato.schemes.suggested import KEY
from potato.schemes.suggested_items import outcomes, unknown_acts


def suggestions_part(assignment: Assignment, answers: Any, result: dict[str, Any]) -> dict[str, Any]:
    """The part `suggestions` of a result, by its key; nothing where nothing was shown, or where nothing is said of it.

    A correction keeps what the annotator had done. Raises Incomplete for acts on what was not shown.
    """
    configuration = assignment.configuration()
    if assignment.is_correction:
        kept = suggestions_in(corrected_by(assignment).result, configuration)
        return {KEY: dict(kept)} if kept is not None else {}
    suggestion = shown_suggestion(assignment) if configuration.suggestions.shown else None
    schemes = configuration.annotation_schemes
    suggested = suggestion.result if suggestion else {}
    said = {KEY: suggestions_in(answers, configuration)}
    if gaps := tuple(unknown_acts(suggested, schemes, said)):
        raise Incomplete(gaps)
    if suggestion is None:
        return {}
    items = outcomes(suggested, schemes, said, result)
    return {KEY: {"model": suggestion.model, "version": suggestion.model_version, "items": items}}
