"""Icons, form fields and links outside the organisation for the site's templates; no data is read here."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.forms import BoundField, CheckboxInput, RadioSelect, Select, Textarea
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts.drawn_icons import drawn_icon
from accounts.models import Project
from accounts.project_pages import visible_tabs
from dashboard.project_state import project_state
from potato_site.rendered_once import RenderedOnceNode, parsed
from tenancy.permissions import allowed
from tenancy.roles import Right
from tenancy.urls import global_reverse
from traces.rendering.icons import drawn_shape

register = template.Library()


@register.simple_tag
def icon(name: str, classes: str = "i") -> SafeString:
    """A decorative icon of the sprite: `{% icon "bug" %}`, `{% icon "bug" "i i--s" %}`, `{% icon "sev-nit" "sev" %}`.

    It is hidden from assistive technology, so the text beside it or the control's `aria-label` carries the meaning.
    """
    return drawn_icon(name, classes)


@register.simple_tag
def configured_icon(name: str | None, classes: str = "i") -> str:
    """A decorative icon that a configuration names, drawn in place: the sprite holds only those of our own pages.

    Nothing where no icon is configured.
    """
    return drawn_shape(name, classes) if name else ""


@register.simple_tag
def site_url(name: str, **kwargs: Any) -> str:
    """The path of a page outside every organisation, also from a page inside one."""
    return global_reverse(name, **kwargs)


@register.simple_tag(takes_context=True)
def may(context: template.Context, right: str, project: Project | None = None) -> bool:
    """Whether the reader has the right in the project: `{% may "MANAGE_PROJECTS" project as may_manage %}`."""
    return allowed(context["request"], Right[right], project)


@register.inclusion_tag("partials/project_tabs.html", takes_context=True)
def project_tabs(context: template.Context, project: Project, current: str) -> dict[str, Any]:
    """The tabs of the project's pages, those that the reader may open; `current` names the one that is open."""
    return {"tabs": visible_tabs(context["request"], project, current), "archived_at": project.archived_at}


@register.simple_tag(takes_context=True)
def tab_counts(context: template.Context, project: Project) -> SafeString:
    """The numbers beside the tabs as they are now, for a part that js/live.js loads again."""
    counted = [tab for tab in visible_tabs(context["request"], project, "") if tab.count is not None]
    return format_html_join(
        "", '<span hidden data-count-of="{}">{}</span>', ((tab.name, intcomma(tab.count)) for tab in counted)
    )


@register.inclusion_tag("partials/project_badge.html")
def project_badge(project: Project) -> dict[str, Any]:
    """What the project is at, in a word beside its name."""
    return {"state": project_state(project)}


@register.tag
def rendered_once(parser: template.base.Parser, token: template.base.Token) -> RenderedOnceNode:
    """What is the same on every page and for everybody, as `{% static %}`: rendered once a process.

    `{% rendered_once tab work_word %}`: once for all that these are at the time, so each must be one of a few words;
    the content sees nothing else of the page. What could tell one organisation or person from another is refused.
    """
    harmless: tuple[Callable[..., Any], ...] = (icon, configured_icon, site_url)
    return parsed(parser, token, frozenset(harmless))


@register.filter
def parts_with(title: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """The title in pieces, each with whether it is one of the words, in capitals or small."""
    if not words:
        return [(title, False)]
    pieces = re.split("(" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")", title, flags=re.I)
    return [(piece, bool(number % 2)) for number, piece in enumerate(pieces) if piece]


@register.filter
def last_key(path: Sequence[str | int]) -> str:
    """The innermost name on a way into a configuration, as `icon` of categories, 2, icon; empty at the top."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


@register.filter
def json_path(path: Sequence[str | int]) -> str:
    """A way into a configuration as JSON, for an attribute."""
    return json.dumps(list(path))


@register.filter
def whole_colour(colour: str) -> str:
    """A colour with six digits, as a browser's field for colours needs it."""
    return "#" + "".join(digit * 2 for digit in colour[1:]) if len(colour) == 4 else colour


@register.inclusion_tag("partials/field.html")
def field(
    bound_field: BoundField, label: str = "", hint: str = "", classes: str = "", **attributes: str
) -> dict[str, Any]:
    """One form field with its label, hint and errors, which are tied to the control by `aria-describedby`.

    `label` and `hint` replace the form's own; `classes` joins the control's; other names become attributes of the
    control with `_` written as `-`, and an empty value removes nothing but is written as given.
    """
    control = bound_field.id_for_label or bound_field.html_name
    hint_text = hint or bound_field.help_text
    widget = bound_field.field.widget
    is_tick = isinstance(widget, CheckboxInput)
    if isinstance(widget, Textarea):
        control_class = "textarea"
    elif isinstance(widget, Select) and not isinstance(widget, RadioSelect):
        control_class = "select"
    elif is_tick or isinstance(widget, RadioSelect):
        control_class = ""
    else:
        control_class = "input"
    described_by = [f"{control}_hint"] * bool(hint_text) + [f"{control}_error"] * bool(bound_field.errors)
    attrs: dict[str, str | bool] = {key.replace("_", "-"): value for key, value in attributes.items()}
    if all_classes := f"{control_class} {classes}".strip():
        attrs["class"] = all_classes
    if described_by:
        attrs["aria-describedby"] = " ".join(described_by)
    return {
        "field": bound_field,
        "widget": bound_field.as_widget(attrs=attrs),
        "control": control,
        "label": label or bound_field.label,
        "hint": hint_text,
        "is_tick": is_tick,
        "is_group": isinstance(widget, RadioSelect),
    }
