"""The file tree of a page as HTML. Written here and not by a template, which takes half a millisecond for each file:
a page has up to 150 of them. It decides nothing about what the tree shows.
"""

from collections.abc import Iterable

from accounts.drawn_icons import drawn_icon
from potato.configuration.agentic import FileTree
from traces.evidence.pages import Folder, ShownFile
from traces.rendering.safe import SafeHtml, trusted
from traces.rendering.shortened import cut_in_the_middle, folder_name


def file_tree(folders: Iterable[Folder], settings: FileTree, *, is_task: bool) -> SafeHtml:
    """The folders with their files, in few nodes. On a task the tree shows which files were viewed."""
    return trusted("".join(_folder(folder, settings, is_task) for folder in folders))


def _folder(folder: Folder, settings: FileTree, is_task: bool) -> str:
    head = f'<div class="tree__dir">{drawn_icon("folder-open")} {folder_name(folder.path)}</div>'
    files = "".join(_file(shown, settings, is_task) for shown in folder.files)
    return f'<div class="tree__group">{head if folder.path else ""}{files}</div>'


def _file(shown: ShownFile, settings: FileTree, is_task: bool) -> str:
    file = shown.file
    tag, link = ("a", f' href="#f{file.index}"') if settings.click_to_navigate else ("span", "")
    classes = "tree__file tint is-del" if file.operation == "deleted" else "tree__file tint"
    icon = drawn_icon(shown.icon) if settings.show_operation_icons else "<span></span>"
    care, seen = "<span></span>" if is_task else "", ""
    if file.badges:
        sign = drawn_icon("triangle-alert", "i i--s")
        care = f'<span class="tree__care">{sign}<span class="vh">to be read with care</span></span>'
    if is_task:
        seen = f'<span class="tree__seen is-off">{drawn_icon("circle")}<span class="vh">not viewed</span></span>'
    changed = f'<span class="add-n">+{file.added}</span><span class="del-n">&minus;{file.removed}</span>'
    return (
        f'<{tag}{link} data-file="{file.index}" class="{classes}" data-c="{shown.tone}">{icon}'
        f"{cut_in_the_middle(shown.name, 'tree__name')}{care}{seen}"
        f'<span class="tree__sub"><span>{shown.operation}</span>'
        f"{'' if shown.is_unchanged else changed}</span></{tag}>"
    )
