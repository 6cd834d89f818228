"""Pictures and runs of web agents that tests draw themselves, and files that only pretend to be pictures."""

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

from PIL import Image, ImageDraw

ELEMENTS = '[3]: <input> "Search";\t[7]: "Help";\t[12]: <button> "Send", "Send the form";'


def drawn(width: int = 320, height: int = 200, colour: str = "#336699", format: str = "PNG", **more: Any) -> bytes:
    """A small page: a bar, a few lines, a button."""
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width, 24), fill=colour)
    for line in range(40, height - 20, 16):
        draw.rectangle((16, line, width // 2, line + 6), fill="#c8ccd4")
    draw.rectangle((width - 90, 40, width - 20, 64), fill=colour)
    file = io.BytesIO()
    picture.save(file, format, **more)
    return file.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_of(width: int, height: int, *chunks: bytes) -> bytes:
    """A PNG file that claims this size."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND", b"")


HOSTILE: dict[str, bytes] = {
    "empty.png": b"",
    "text.png": b"<script>alert(1)</script>",
    "drawing.png": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "half.png": drawn(800, 600)[:700],
    "huge.png": png_of(60_000, 60_000, chunk(b"IDAT", zlib.compress(b"\0" * 1000))),
    "large.png": png_of(9_000, 9_000, chunk(b"IDAT", zlib.compress(b"\0" * 1000))),
    "talkative.png": png_of(
        4, 4, chunk(b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 100_000_000)), chunk(b"IDAT", zlib.compress(b"\0" * 52))
    ),
    "moving.gif": b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
    "nothing.png": png_of(0, 0),
}


def asked(task: str = "Find the help page.", address: str = "https://example.org/") -> dict[str, str]:
    text = f"Now given a task: {task}  Please interact with {address} and get the answer."
    return {"role": "user", "content": f"{text}Observation: A screenshot and some texts. (Omitted in context.)"}


def omitted() -> dict[str, str]:
    return {"role": "user", "content": "Observation: A screenshot and some texts. (Omitted in context.)"}


def observed(
    elements: str = ELEMENTS, picture: str = "data:image/png;base64,{b64_img}", told: str = ""
) -> dict[str, Any]:
    text = (
        f"Observation:{told} please analyze the attached screenshot and give the Thought and Action. I've provided the "
        "tag name of each element and the text it contains (if text exists). Note that <textarea> or <input> may be "
        "textbox, but not exactly. Please focus more on the screenshot and then refer to the textual information."
        f"\n{elements}"
    )
    return {
        "role": "user",
        "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": picture}}],
    }


def acted(thought: str, action: str) -> dict[str, str]:
    return {"role": "assistant", "content": f"Thought: {thought}\n\nAction: {action}"}


SYSTEM = {"role": "system", "content": "You browse the web. The screenshot will feature Numerical Labels."}
RUN = [
    SYSTEM,
    asked(),
    acted("The help is linked at the top.", "Click [7]"),
    omitted(),
    acted("I search in it.", "Type [3]; abstracts in two languages"),
    observed(),
    acted("I have it.", "ANSWER; A line of dashes"),
]


def as_json(messages: Any) -> bytes:
    return json.dumps(messages).encode()


def zipped(members: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        for name, content in members.items():
            package.writestr(name, content)
    return file.getvalue()
