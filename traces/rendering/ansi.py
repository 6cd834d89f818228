"""What a terminal printed, as HTML whose colours are classes of static/css/terminal.css. Linear in the text's length.

Colours and weights are kept; cursor movements, titles, links and other control sequences are dropped, and of a line
that was written over (a progress bar) the last state is shown. No attribute's value comes from the text.
"""

import re

from traces.rendering.escaping import escaped

# Each alternative is bounded, so that hostile input stays linear. A link's text stays, its address goes.
_SEQUENCE = re.compile(
    r"\x1b\[([0-9;:]{0,64})m"  # 1: colours and weights
    r"|\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]P^_X][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{0,4}[0-~]"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]"
)
_OVERSTRIKE = re.compile(r"(.)\x08\1|_\x08(?=.)")
_CUBE = (0, 95, 135, 175, 215, 255)
_WEIGHTS = {1: "t1", 2: "t2", 3: "t3", 4: "t4", 7: "t7", 9: "t9"}


class Terminal:
    """A terminal's colours as they go on from one piece of text to the next."""

    def __init__(self) -> None:
        self._style: dict[str | int, str] = {}

    def html(self, text: str) -> str:
        """The HTML of the next piece. Lines stay lines."""
        shown: list[str] = []
        for number, line in enumerate(text.split("\n")):
            if number:
                shown.append("\n")
            self._line(_last_written(line), shown)
        return "".join(shown)

    def _line(self, line: str, shown: list[str]) -> None:
        at = 0
        for sequence in _SEQUENCE.finditer(line):
            self._piece(line[at : sequence.start()], shown)
            if sequence[1] is not None:
                self._restyle(sequence[1])
            at = sequence.end()
        self._piece(line[at:], shown)

    def _piece(self, text: str, shown: list[str]) -> None:
        if not text:
            return
        if self._style:
            shown.append(f'<span class="{" ".join(self._style.values())}">{escaped(text)}</span>')
        else:
            shown.append(escaped(text))

    def _restyle(self, sequence: str) -> None:
        # An empty code is 0, so "ESC[m" resets. Colons are the standard's form ("38:2:..."), semicolons the usual one.
        codes = iter([int(code or 0) for code in re.split("[;:]", sequence)])
        style = self._style
        for code in codes:
            if code == 0:
                style.clear()
            elif code in _WEIGHTS:
                style[code] = _WEIGHTS[code]
            # 22 ends both bold and faint: there is no code for one of them (21 is a double underline).
            elif code == 22:
                style.pop(1, None)
                style.pop(2, None)
            elif code in (23, 24, 27, 29):
                style.pop(code - 20, None)
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style["f"] = f"f{code - 30 if code < 90 else code - 82}"
            elif 40 <= code <= 47 or 100 <= code <= 107:
                style["b"] = f"b{code - 40 if code < 100 else code - 92}"
            elif code in (38, 48):
                layer, mode = "f" if code == 38 else "b", next(codes, 0)
                if mode == 5:
                    colour = next(codes, 0)
                elif mode == 2:
                    colour = _nearest(next(codes, 0), next(codes, 0), next(codes, 0))
                else:
                    continue
                if 0 <= colour <= 255:
                    style[layer] = f"{layer}{colour}"
            elif code in (39, 49):
                style.pop("f" if code == 39 else "b", None)


def _last_written(line: str) -> str:
    line = line.rstrip("\r")
    # A progress bar goes back to the line's begin and writes over it. A last CR belongs to CRLF and shows nothing.
    if "\r" in line:
        line = line.rsplit("\r", 1)[-1]
    return _OVERSTRIKE.sub(r"\1", line) if "\x08" in line else line


def _nearest(*channels: int) -> int:
    """The colour of the 6 by 6 by 6 cube that is nearest to a red, green and blue of 0 to 255."""
    red, green, blue = (min(range(6), key=lambda step: abs(_CUBE[step] - channel)) for channel in channels)
    return 16 + 36 * red + 6 * green + blue
