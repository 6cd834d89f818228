"""`{% rendered_once %}`: a part of a template that is rendered once a process, for everybody who ever asks for it."""

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from django.template import Context, Engine, Node, NodeList, TemplateSyntaxError, Variable, VariableDoesNotExist
from django.template.base import FilterExpression, Parser, TextNode, Token, VariableNode
from django.template.defaulttags import CommentNode, IfNode, LoadNode
from django.template.library import SimpleNode
from django.template.loader_tags import IncludeNode, construct_relative_path
from django.template.smartif import TokenBase
from django.templatetags.static import StaticNode
from django.utils.safestring import SafeString

# What differs from one person, organisation or request to the next, under the names that context processors give it.
OF_ONE_REQUEST = frozenset({"request", "user", "perms", "messages", "csrf_token", "navigation", "organisation"})
# More renderings than a few words have, so that a word that anybody can choose does not fill the memory.
MOST_RENDERINGS = 100

_PLAIN: tuple[type[Node], ...] = (TextNode, VariableNode, IfNode, CommentNode, LoadNode, StaticNode)
_CONSTANTS = frozenset({"True", "False", "None"})
_Words = tuple[tuple[type, Any], ...]


class RenderedOnceNode(Node):
    """Knows nothing of the page but the named words, each a str, bool, int or None; what it shows is escaped."""

    def __init__(self, content: NodeList, words: list[str]) -> None:
        self.content = content
        self.words = [(word, Variable(word)) for word in words]
        self.rendered: dict[_Words, SafeString] = {}

    def render(self, context: Context) -> SafeString:
        values = {name: _resolved(word, context) for name, word in self.words}
        # The type belongs to it: a text that is marked as safe equals the one that is not, and True equals 1.
        key = tuple([(type(value), value) for value in values.values()])
        known = self.rendered.get(key)
        if known is not None:
            return known
        for name, value in values.items():
            if not (value is None or isinstance(value, str | bool | int)):
                raise TypeError(
                    f"{{% rendered_once {name} %}} got {type(value).__name__} for {name}: a word is a str, bool, int "
                    "or None, of which there are few."
                )
        alone = Context(values)
        template: Any = context.template  # it has one while it is rendered
        with alone.render_context.push_state(template), alone.bind_template(template):
            fresh = self.content.render(alone)
        if len(self.rendered) < MOST_RENDERINGS:
            self.rendered[key] = fresh
        return fresh


def parsed(parser: Parser, token: Token, harmless: frozenset[Callable[..., Any]]) -> RenderedOnceNode:
    """The node of `{% rendered_once word ... %}`, whose tags may call these functions.

    Raises TemplateSyntaxError for what could tell one person, organisation or request from another: only text, the
    named words, `if`, `static`, `include` of a fixed template with the same inside, and the harmless tags may stand
    there.
    """
    words = token.split_contents()[1:]
    for word in words:
        if not word.isidentifier():
            raise TemplateSyntaxError(f"{{% rendered_once {word} %}}: name a variable, without dots and filters.")
        if word in OF_ONE_REQUEST:
            raise TemplateSyntaxError(
                f"{{% rendered_once {word} %}}: {word} is of one person or page, not one of a few words."
            )
    content = parser.parse(["endrendered_once"])
    parser.delete_first_token()
    _check(content, _Known(frozenset(words), harmless, included=()))
    return RenderedOnceNode(content, words)


class _Known:
    def __init__(
        self, words: frozenset[str], harmless: frozenset[Callable[..., Any]], included: tuple[str, ...]
    ) -> None:
        self.words, self.harmless, self.included = words, harmless, included


def _check(nodes: NodeList | list[Node], known: _Known) -> None:
    for node in nodes:
        if isinstance(node, IncludeNode):
            _check_included(node, known)
        elif not (type(node) in _PLAIN or (type(node) is SimpleNode and node.func in known.harmless)):
            _refuse(node, known, "it may differ from one person, organisation or request to the next")
        for name in _names(vars(node)):
            _check_name(node, name, known)
        if isinstance(node, IfNode):
            _check(node.nodelist, known)


def _check_name(node: Node, name: str, known: _Known) -> None:
    if name in known.words or name in _CONSTANTS:
        return
    if name in OF_ONE_REQUEST:
        _refuse(node, known, f"{name} differs from one person, organisation or request to the next")
    if not known.included:
        _refuse(node, known, f"{name} is not among its words, as in {{% rendered_once {name} %}}")


def _check_included(node: IncludeNode, known: _Known) -> None:
    name = node.template.var
    if not isinstance(name, str):
        _refuse(node, known, "which template that is would be known on each page only")
    path = construct_relative_path(_source_template(node), name)
    if path in known.included:
        return
    words = known.words | node.extra_context.keys()
    inside = _Known(frozenset(words), known.harmless, (*known.included, path))
    _check(Engine.get_default().get_template(path).nodelist, inside)


def _names(part: Any) -> Iterator[str]:
    """The first names of the variables in a node's own expressions, not in those of the nodes below it."""
    if isinstance(part, Variable):
        if part.lookups:
            yield part.lookups[0]
    elif isinstance(part, FilterExpression):
        yield from _names([part.var, [arguments for _, arguments in part.filters]])
    elif isinstance(part, TokenBase):
        yield from _names([part.value, part.first, part.second])
    elif isinstance(part, dict):
        yield from _names([value for name, value in part.items() if name not in ("token", "origin")])
    elif isinstance(part, list | tuple) and not isinstance(part, NodeList):
        for each in part:
            yield from _names(each)


def _source_template(node: Node) -> str:
    return str(node.origin.template_name or "")


def _resolved(word: Variable, context: Context) -> Any:
    try:
        return word.resolve(context)
    except VariableDoesNotExist:
        return ""


def _refuse(node: Node, known: _Known, why: str) -> NoReturn:
    token: Any = node.token  # the parser gives each node its own
    shown = f"{{{{ {token.contents} }}}}" if isinstance(node, VariableNode) else f"{{% {token.contents} %}}"
    raise TemplateSyntaxError(
        f"{_source_template(node) or 'The template'}, line {token.lineno}: {shown} cannot stand inside "
        f"{{% rendered_once %}}, which is rendered once for everybody: {why}."
    )
