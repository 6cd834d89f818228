"""How texts of a run stand in templates: escaped, with what hides in them made visible. No data is read here."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.template import Context

from traces.evidence.file_diffs import file_articles as articles_of
from traces.evidence.file_tree import file_tree as tree_of
from traces.evidence.pages import Folder, ShownFile, ShownStep
from traces.evidence.step_articles import rail_items
from traces.evidence.step_articles import step_article as article_of
from traces.rendering.escaping import attribute, escaped
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.shortened import cut_in_the_middle

register = template.Library()


@register.filter
def visible(text: str) -> SafeHtml:
    """A text of a run as the content of an element."""
    return trusted(escaped(text))


@register.filter
def visible_in_attribute(text: str) -> SafeHtml:
    """A text of a run inside an attribute's double quotes, or in a page's title."""
    return trusted(attribute(text))


@register.simple_tag
def middle(text: str, classes: str = "") -> SafeHtml:
    """A text of a run that is cut in its middle where there is no room."""
    return cut_in_the_middle(text, classes)


@register.simple_tag(takes_context=True)
def file_tree(context: Context, folders: Sequence[Folder]) -> SafeHtml:
    """These folders as the project's `display` wants them; with `is_task` the tree shows which files were viewed."""
    return tree_of(folders, context["display"].file_tree, is_task=bool(context.get("is_task")))


@register.simple_tag
def file_options(files: Iterable[Mapping[str, Any]]) -> SafeHtml:
    """The files of a task's data as the options of a list: by a template each takes 100,000 instructions of the
    processor, and every task has them."""
    return trusted("".join(f'<option value="{file["index"]}">{escaped(file["path"])}</option>' for file in files))


@register.simple_tag
def file_articles(files: Sequence[ShownFile]) -> SafeHtml:
    """The files with their heads and differences."""
    return articles_of(files)


@register.simple_tag(takes_context=True)
def step_article(context: Context, shown: ShownStep) -> SafeHtml:
    """One step with its head and body. Context: judged (the ShownScheme that judges steps) on such a task; files_url,
    where the lines are that the step left."""
    judged = context.get("judged")
    return article_of(
        shown,
        is_judged=bool(judged),
        shows_titles_alone=bool(judged and judged.shows_titles_alone),
        lines_url=context.get("files_url") or "",
    )


@register.simple_tag(takes_context=True)
def step_rail(context: Context, steps: Sequence[ShownStep]) -> SafeHtml:
    """The links to these steps. Context: judged (the ShownScheme that judges steps) on such a task."""
    return rail_items(steps, is_judged=bool(context.get("judged")))
