"""Expected failures: each a class with a code, a sentence for people, and the HTTP status of an answer."""

from typing import Any


class Refused(Exception):  # noqa: N818  (it is an answer, not an error)
    """An action that cannot be done now. The sentence says what, where and what to do."""

    code = "refused"
    status = 409

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence

    def facts(self) -> dict[str, Any]:
        """What programs are told beside the code and the sentence."""
        return {}
