"""Figures of agreement as files to take away."""

from django.http import HttpResponse

from agreement.plot_files import render_csv, render_markdown, render_png, render_svg
from agreement.plots import Plot


def plot_response(plot: Plot, name: str, kind: str) -> HttpResponse:
    """The plot as svg or png, or its numbers as md or csv, under that name."""
    match kind:
        case "svg":
            return file_response(render_svg(plot).encode(), "image/svg+xml", name)
        case "png":
            return file_response(render_png(plot), "image/png", name)
        case "md":
            return file_response(render_markdown(plot).encode(), "text/markdown; charset=utf-8", name)
    return file_response(render_csv(plot).encode(), "text/csv; charset=utf-8", name)


def file_response(content: bytes, kind: str, name: str) -> HttpResponse:
    return HttpResponse(content, content_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
