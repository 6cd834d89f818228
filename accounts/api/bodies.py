"""What a request's body must be: a frozen model for each route. Refuses the rest with all faults at once."""

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as DjangoValidationError
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from rest_framework import status
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from potato.api.base import Body as Body  # Views take it from here, with `read`.
from potato.schemes.answers import shown
from tenancy.errors import Refused


class LengthNeeded(APIException):
    status_code = status.HTTP_411_LENGTH_REQUIRED
    default_code = "length_needed"
    default_detail = "Send the body in one piece, with its Content-Length."


class InvalidRequest(Refused):
    """A body or a parameter that cannot be taken; `errors` has each fault with its path."""

    code = "invalid_request"
    status = 400

    def __init__(self, errors: Sequence[tuple[Sequence[str | int], str, str]]) -> None:
        super().__init__(" ".join(dict.fromkeys(sentence for _, _, sentence in errors)))
        self.errors = errors

    @classmethod
    def at(cls, key: str, sentence: str, code: str = "value_error") -> Self:
        """One fault, at that key of the body or that parameter of the address."""
        return cls([([key], code, sentence)])

    @classmethod
    def from_model(cls, error: DjangoValidationError, *, whole: str = "") -> Self:
        """The faults that a row's own check found, each at its field; `whole` is the key that those of the whole row
        are about, as of a name that is taken."""
        fields = error.error_dict if hasattr(error, "error_dict") else {"": [error]}
        return cls(
            [
                (
                    [key] if (key := whole if name == NON_FIELD_ERRORS else name) else [],
                    fault.code or "invalid",
                    sentence,
                )
                for name, faults in fields.items()
                for fault in faults
                for sentence in fault.messages
            ]
        )

    def facts(self) -> dict[str, Any]:
        return {
            "errors": [{"path": list(path), "code": code, "sentence": sentence} for path, code, sentence in self.errors]
        }


Given = TypeVar("Given", bound=Body)


def read(model: type[Given], request: Request) -> Given:
    """The body of the request as the model. Raises InvalidRequest (400) that names every key at fault."""
    if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
        raise LengthNeeded  # Django would take it for an empty one.
    try:
        return model.model_validate(request.data)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        raise InvalidRequest(
            [(details["loc"], details["type"], _sentence(details, model)) for details in faults]
        ) from None


def _sentence(details: ErrorDetails, model: type[Body]) -> str:
    keys = ", ".join(model.model_fields)
    where = ".".join(str(part) for part in details["loc"])
    match details["type"]:
        case "model_type" | "string_unicode" if not where:
            return f"The body must be a JSON object with the keys {keys}."
        case "missing":
            return f"{where} is missing."
        case "extra_forbidden":
            return f"{shown(where)} is not a key of this request. Its keys are {keys}."
        case "int_type" | "greater_than_equal" | "less_than":
            return f"{where} must be a whole number, as the API gave it."
        case "bool_type":
            return f"{where} must be true or false."
        case "string_type" | "string_unicode":
            return f"{where} must be text."
    return f"{where}: {_message_of(details)}"


def _message_of(details: ErrorDetails) -> Any:
    return details["msg"].removeprefix("Value error, ")
