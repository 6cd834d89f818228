"""What all of the API's models have in common."""

from pydantic import BaseModel, ConfigDict


class Body(BaseModel):
    """A request's body. Keys are exactly those of the model; a whole number is not 4.0, true or "4"."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


class Shape(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(use_attribute_docstrings=True, frozen=True)
