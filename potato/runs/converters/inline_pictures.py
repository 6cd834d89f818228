"""Takes pictures out of texts that hold them whole, and leaves a line that names each.

Field notes
- SWE-agent's tools for pictures print Markdown, ![path](data:image/png;base64,...), which its history processor makes
  into parts for the model; a task with pictures has them in its text in the same way.
- OpenHands before version 1 answers the reading of a picture with a data URL and nothing else.
- Programs that mini-swe-agent runs print <MSWEA_MULTIMODAL_CONTENT><CONTENT_TYPE>image_url</CONTENT_TYPE>data:image/...
  </MSWEA_MULTIMODAL_CONTENT>, of which its models make parts where they are told to (multimodal_regex).
"""

import re

from potato.runs.converters.blocks import named_url
from potato.runs.converters.result_pictures import pictures_in
from potato.runs.model import Screenshot

_URL = r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=\r\n]{1,100000000}"
_MARKDOWN = re.compile(rf"!\[[^\]\n]{{0,500}}\]\(({_URL})\)", re.IGNORECASE)
_MARKED = re.compile(
    r"<MSWEA_MULTIMODAL_CONTENT>\s{0,100}<CONTENT_TYPE>\s{0,100}image_url\s{0,100}</CONTENT_TYPE>"
    rf"\s{{0,100}}({_URL})\s{{0,100}}</MSWEA_MULTIMODAL_CONTENT>",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\s{{0,100}}({_URL})\s{{0,100}}", re.IGNORECASE)


def without_pictures(text: str) -> tuple[str, tuple[Screenshot, ...]]:
    """The text with a line like "[image/png, 48213 bytes]" for each picture in it, and the pictures in their order."""
    if "data:image/" not in text:
        return text, ()
    pictures: list[Screenshot] = []

    def named(match: re.Match[str]) -> str:
        pictures.extend(pictures_of_url(match[1]))
        return named_url(match[1])

    if alone := _ALONE.fullmatch(text):
        return named(alone), tuple(pictures)
    for form in (_MARKDOWN, _MARKED):
        text = form.sub(named, text)
    return text, tuple(pictures)


def pictures_of_url(url: str) -> tuple[Screenshot, ...]:
    """The picture that a data URL holds; none for any other address, as nothing is fetched."""
    return pictures_in({"type": "image_url", "image_url": url})
