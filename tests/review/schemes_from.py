"""Schemes of code review as a project's configuration gives them, from their block alone."""

import json
from typing import Any

from potato.configuration import ProjectConfiguration, check_configuration
from potato.schemes.review.configuration import FileRatingsScheme, InlineCommentsScheme, VerdictScheme

KINDS = {
    "inline_comments": "code_review_comments",
    "file_ratings": "code_review_file_ratings",
    "verdict": "code_review_verdict",
}


def project(**blocks: dict[str, Any] | None) -> ProjectConfiguration:
    """A configuration with one scheme for each named block, of the block's name."""
    schemes = [
        {"name": key, "annotation_type": KINDS[key], **({} if block is None else {key: block})}
        for key, block in blocks.items()
    ]
    checked = check_configuration(json.dumps({"task_name": "Review", "annotation_schemes": schemes}))
    assert checked.configuration is not None, checked.errors
    return checked.configuration


def comments_scheme(**block: Any) -> InlineCommentsScheme:
    scheme = project(inline_comments=block).annotation_schemes[0]
    assert isinstance(scheme, InlineCommentsScheme)
    return scheme


def ratings_scheme(**block: Any) -> FileRatingsScheme:
    scheme = project(file_ratings=block).annotation_schemes[0]
    assert isinstance(scheme, FileRatingsScheme)
    return scheme


def verdict_scheme(**block: Any) -> VerdictScheme:
    scheme = project(verdict=block).annotation_schemes[0]
    assert isinstance(scheme, VerdictScheme)
    return scheme
