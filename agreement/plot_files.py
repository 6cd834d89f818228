"""A plot as a file of its own: SVG that needs no style sheet, PNG, and its figures as CSV."""

from html import escape
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from agreement.plots import BOTTOM, Plot
from agreement.tables import csv_text, markdown_text
from potato.statistics.charts import AXIS, GRID, SERIES, TEXT

_SCALE = 2
_HEAD = 28
_SURFACE = "#ffffff"
_TITLE = "#1b2130"


def render_svg(plot: Plot) -> str:
    """The plot with its title and its colours, in the light theme."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 -{_HEAD} {plot.width} {plot.height + _HEAD}" width="'
        f'{plot.width}" height="{plot.height + _HEAD}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(plot.label)}</title>",
        f'<rect y="-{_HEAD}" width="100%" height="100%" fill="{_SURFACE}"/>',
        f'<text x="0" y="-10" font-size="14" font-weight="bold" fill="{_TITLE}">{escape(plot.title)}</text>',
    ]
    for line in plot.lines:
        parts.append(f'<path d="M{plot.left} {line.y}H{plot.width}" stroke="{GRID}"/>')
        parts.append(_text(str(plot.left - 6), line.text_y, line.label, anchor="end"))
    if plot.reference_y:
        parts.append(f'<path d="M{plot.left} {plot.reference_y}H{plot.width}" stroke="{AXIS}" stroke-dasharray="3 3"/>')
    for column in plot.columns:
        size = f'width="{column.width}" height="{column.height}"'
        parts.append(f'<rect x="{column.x}" y="{column.y}" {size} rx="2" fill="{_colour(column.number)}"/>')
        parts.append(_text(column.middle, column.value_y, column.value))
    for curve in plot.curves:
        colour = _colour(curve.number)
        for piece in curve.pieces:
            parts.append(f'<polyline points="{piece}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for mark in curve.marks:
            if mark.low_y:
                parts.append(f'<path d="M{mark.x} {mark.high_y}V{mark.low_y}" stroke="{colour}" stroke-opacity=".4"/>')
            fill = _SURFACE if mark.is_hollow else colour
            parts.append(f'<circle cx="{mark.x}" cy="{mark.y}" r="3.5" fill="{fill}" stroke="{colour}"/>')
    parts += [_text(x, str(BOTTOM + 18), label) for x, label in plot.places]
    if plot.caption:
        parts.append(_text(str((plot.left + plot.width) / 2), str(BOTTOM + 34), plot.caption))
    names = [(name, number) for name, number in plot.legend]
    for at, (name, number) in enumerate(names):
        x = plot.width - 150 * (len(names) - at)
        parts.append(f'<rect x="{x}" y="-19" width="10" height="10" rx="2" fill="{_colour(number)}"/>')
        parts.append(_text(str(x + 16), "-10", name, anchor="start"))
    return "".join([*parts, "</svg>\n"])


def render_png(plot: Plot) -> bytes:
    """The same as a picture, at twice the size."""
    image = Image.new("RGB", (plot.width * _SCALE, (plot.height + _HEAD) * _SCALE), _SURFACE)
    draw = ImageDraw.Draw(image)
    small, large = ImageFont.load_default(12 * _SCALE), ImageFont.load_default(14 * _SCALE)

    def at(x: str | float, y: str | float) -> tuple[float, float]:
        return float(x) * _SCALE, (float(y) + _HEAD) * _SCALE

    draw.text(at(0, -_HEAD + 6), plot.title, fill=_TITLE, font=large)
    for line in plot.lines:
        draw.line([at(plot.left, line.y), at(plot.width, line.y)], fill=GRID, width=_SCALE)
        draw.text(at(plot.left - 6, line.y), line.label, fill=TEXT, font=small, anchor="rm")
    if plot.reference_y:
        draw.line([at(plot.left, plot.reference_y), at(plot.width, plot.reference_y)], fill=AXIS, width=_SCALE)
    for column in plot.columns:
        right, low = float(column.x) + float(column.width), float(column.y) + float(column.height)
        draw.rectangle([at(column.x, column.y), at(right, low)], fill=_colour(column.number))
        draw.text(at(column.middle, column.value_y), column.value, fill=TEXT, font=small, anchor="ms")
    for curve in plot.curves:
        colour = _colour(curve.number)
        for piece in curve.pieces:
            points = [at(*point.split(",")) for point in piece.split(" ")]
            draw.line(points, fill=colour, width=2 * _SCALE, joint="curve")
        for mark in curve.marks:
            if mark.low_y:
                draw.line([at(mark.x, mark.high_y), at(mark.x, mark.low_y)], fill=colour, width=_SCALE)
            (across, down), radius = at(mark.x, mark.y), 3.5 * _SCALE
            fill = _SURFACE if mark.is_hollow else colour
            draw.ellipse(
                [across - radius, down - radius, across + radius, down + radius],
                fill=fill,
                outline=colour,
                width=_SCALE,
            )
    for x, label in plot.places:
        draw.text(at(x, BOTTOM + 18), label, fill=TEXT, font=small, anchor="ms")
    if plot.caption:
        draw.text(at((plot.left + plot.width) / 2, BOTTOM + 34), plot.caption, fill=TEXT, font=small, anchor="ms")
    for place, (name, number) in enumerate(plot.legend):
        left = plot.width - 150 * (len(plot.legend) - place)
        draw.rectangle([at(left, -19), at(left + 10, -9)], fill=_colour(number))
        draw.text(at(left + 16, -10), name, fill=TEXT, font=small, anchor="ls")
    file = BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def render_csv(plot: Plot) -> str:
    """The plot's table."""
    return csv_text(plot.heading, plot.rows)


def render_markdown(plot: Plot) -> str:
    """The plot's title and table."""
    return f"**{plot.title}**\n\n{markdown_text(plot.heading, plot.rows)}"


def _text(x: str, y: str, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{TEXT}">{escape(text)}</text>'


def _colour(number: int) -> str:
    return SERIES[(number - 1) % len(SERIES)]
