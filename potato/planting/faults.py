"""Where in a source text one fault can be planted, kind by kind, and what the text is with it.

A fault stands on given lines alone, leaves the text parsing, and is none that the language's compiler or a reader of
the line would have to refuse: operators change among numbers, arguments are swapped within a type, a dropped check
leaves no variable unused. What is known to change nothing is left out: the bound of a maximum, a guard for what the
code behind it does anyway, arguments whose order means nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from potato.planting.languages import Language, count_errors, text, walk
from potato.planting.nodes import (
    declared_types,
    follows_equality,
    is_within,
    next_statement,
    one_line,
    short,
    statements,
    walk_function,
)
from potato.runs.python_code import parsed

if TYPE_CHECKING:
    from tree_sitter import Node

FaultKind: TypeAlias = Literal["off_by_one", "swapped_arguments", "dropped_check", "wrong_operator", "removed_await"]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a source text: bytes `start` to `end` become `replacement`.

    `first` and `last` are the lines, from 1, that it touches; `drops_lines` says that they go as a whole. `before` and
    `after` are the code in short, and `why` says to an annotator what is wrong.
    """

    kind: FaultKind
    start: int
    end: int
    replacement: bytes
    first: int
    last: int
    before: str
    after: str
    why: str
    drops_lines: bool = False

    def plant(self, source: bytes) -> bytes:
        return source[: self.start] + self.replacement + source[self.end :]


_SHIFTED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_OTHER = {
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "/",
    "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    "<": ">", ">": "<", "<=": ">=", ">=": "<=",
    "&&": "||", "||": "&&", "and": "or", "or": "and",
}  # fmt: skip
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%"})
_AND = frozenset({"and", "&&"})
_ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "+="}
_BOUNDED_CALLS = frozenset({"range", "slice", "substring", "substr", "charAt", "splice", "subList", "at", "repeat"})
_ANY_ORDER = frozenset(
    {
        "max", "min", "Max", "Min", "gcd", "lcm", "hypot", "isclose", "equals", "Equal", "union", "intersection", "add",
        "print", "println", "printf", "Println", "Printf", "Sprintf", "format", "log", "debug", "info", "warn",
        "warning", "error", "isinstance", "issubclass", "getattr", "setattr", "hasattr", "super", "sum", "concat",
        "append", "Errorf", "zip", "merge", "Set", "set",
    }
)  # fmt: skip
_PLAIN = frozenset({"identifier", "attribute", "member_expression", "selector_expression", "field_access", "subscript"})
_EMPTY = re.compile(r"return(\s+(\[\]|\{\}|\(\)|''|\"\"|0|0\.0|None|null|nil|undefined|false|False))?\s*;?")
_RAISED_ANYWAY = re.compile(r"\b(KeyError|IndexError|TypeError|AttributeError|NullPointerException)\b")
_NARROWS = re.compile(
    r"\bnull\b|\bundefined\b|\btypeof\b|\binstanceof\b|\bin\b|[\"'`?]|(^|[^=!])!\s*\w|^\(?\w+(\.\w+)*\)?$"
)
_GO_BUILTIN = frozenset({"len", "cap", "nil", "true", "false", "string", "error", "panic", "make", "append", "int"})
_NAME_NODES = frozenset({"identifier", "shorthand_property_identifier", "package_identifier", "type_identifier"})


def find_faults(source: bytes, language: Language, lines: Collection[int]) -> list[Fault]:
    """Every fault that can be planted on these lines, from 1, in the order of the text."""
    tree = language.parse(source)
    finder = _Finder(source, language, frozenset(lines), tree.root_node)
    return sorted(finder.faults(), key=lambda fault: (fault.start, fault.end, fault.kind, fault.replacement))


def still_parses(source: bytes, planted: bytes, language: Language, *, is_whole: bool) -> bool:
    """Whether the text with the fault parses as well as the one without. Python reads a whole text of Python, too."""
    if count_errors(language.parse(planted)) > count_errors(language.parse(source)):
        return False
    return not is_whole or language.name != "Python" or parsed(planted) is not None


class _Finder:
    def __init__(self, source: bytes, language: Language, lines: frozenset[int], root: Node) -> None:
        self._source, self._language, self._wanted_lines, self._root = source, language, lines, root
        self._source_lines = source.split(b"\n")
        self._names = Counter(text(node) for node in walk(root) if node.type in _NAME_NODES)
        self._types = dict(declared_types(root))

    def faults(self) -> Iterator[Fault]:
        for node in walk(self._root):
            if not self._is_on_requested_lines(node) or node.has_error:
                continue
            kind = node.type
            if kind in self._language.binary:
                yield from self._operators(node)
                yield from self._dropped_operand(node)
            if kind in ("augmented_assignment", "augmented_assignment_expression", "assignment_statement"):
                yield from self._assigned(node)
            if kind == "assignment_expression" and self._language.name == "Java":
                yield from self._assigned(node)
            if kind in self._language.integers:
                yield from self._integer(node)
            if kind in self._language.calls:
                yield from self._swapped(node)
            if kind == "if_statement":
                yield from self._dropped_guard(node)
            if kind in ("await", "await_expression") and node.is_named:
                yield from self._not_awaited(node)
            if kind == "expression_statement" and self._language.waits:
                yield from self._not_waited(node)

    # --- Operators ---

    def _operators(self, node: Node) -> Iterator[Fault]:
        operator = self._operator(node)
        if operator is None:
            return
        sign = text(operator)
        left, right = node.children[0], node.children[-1]
        if self._guards_an_index(node):
            return
        if sign in _SHIFTED and not self._is_extreme(node, text(left), text(right)) and not follows_equality(node):
            why = f"The bound is off by one: it should be `{short(node)}`."
            yield self._replaced("off_by_one", operator, _SHIFTED[sign], node, why)
        if sign in _OTHER and not self._is_loop_condition(node) and self._may_change(node, sign, left, right):
            why = f"The operator is wrong: it should be `{sign}`, as in `{short(node)}`."
            yield self._replaced("wrong_operator", operator, _OTHER[sign], node, why)

    def _operator(self, node: Node) -> Node | None:
        """The operator of an expression with two operands; None for a chain of comparisons."""
        if len(node.children) != 3:
            return None
        operator = node.children[1]
        return operator if not operator.is_named and operator.start_point.row == operator.end_point.row else None

    def _may_change(self, node: Node, sign: str, left: Node, right: Node) -> bool:
        if sign in _ARITHMETIC:
            operands = (left, right)
            if any(self._is_text_or_sequence(operand) for operand in operands):
                return False
            if self._language.is_typed:
                return all(self._is_number(operand) for operand in operands)
            return any(self._is_number(operand) for operand in operands) or all(
                operand.type in _PLAIN for operand in operands
            )
        if self._language.name == "TypeScript":
            return not _NARROWS.search(text(left)) and not _NARROWS.search(text(right))
        return True

    def _assigned(self, node: Node) -> Iterator[Fault]:
        operator = node.child_by_field_name("operator")
        value = node.child_by_field_name("right")
        if operator is None or value is None or text(operator) not in _ASSIGNED:
            return
        inner = value.named_children[0] if value.type == "expression_list" and value.named_children else value
        if self._is_text_or_sequence(inner) or not self._is_number(inner):
            return
        why = f"The operator is wrong: it should be `{text(operator)}`, as in `{short(node)}`."
        yield self._replaced("wrong_operator", operator, _ASSIGNED[text(operator)], node, why)

    def _is_loop_condition(self, node: Node) -> bool:
        parent = node.parent
        while parent is not None and parent.type in ("parenthesized_expression", *self._language.binary):
            parent = parent.parent
        return parent is not None and parent.type in self._language.loops

    def _is_extreme(self, node: Node, left: str, right: str) -> bool:
        """Whether the comparison chooses the larger or smaller of its operands: then a bound more changes nothing."""
        parent = node.parent
        while parent is not None and parent.type == "parenthesized_expression":
            parent = parent.parent
        if parent is None or parent.type not in (
            "if_statement", "conditional_expression", "ternary_expression", "elif_clause",
        ):  # fmt: skip
            return False
        rest = text(parent).replace(text(node), "", 1)
        return any(
            re.search(rf"(return|=|\?|:|^)\s*{re.escape(side)}\s*(;|:|\}}|if|else|$)", rest, re.M)
            for side in (left, right)
        )

    # --- Integers ---

    def _integer(self, node: Node) -> Iterator[Fault]:
        written = text(node)
        if not re.fullmatch(r"0|[1-9][0-9]{0,5}", written) or not self._is_bound(node):
            return
        number = int(written)
        negated = node.parent is not None and node.parent.type in ("unary_operator", "unary_expression")
        is_sum = node.parent is not None and text(self._operator(node.parent) or node) in ("+", "-")
        # Nobody writes a sum with nothing.
        is_last = number == 0 or negated or (is_sum and number == 1)
        others = (number + 1,) if is_last else (number + 1, number - 1)
        whole = node.parent
        if whole is not None and (negated or whole.type in ("argument_list", "arguments")):
            whole = whole.parent
        for other in others:
            why = f"It is off by one: {written} should stand here, as in `{short(whole or node)}`."
            yield self._replaced("off_by_one", node, str(other), whole or node, why)

    def _is_bound(self, node: Node) -> bool:
        """Whether the number counts something: an index, a bound of a slice or a loop, a part of a sum of indices."""
        inner, parent = node, node.parent
        if parent is not None and parent.type in ("unary_operator", "unary_expression"):
            inner, parent = parent, parent.parent
            if parent is None or parent.type not in self._language.indexes:
                return False
        if parent is None:
            return False
        if parent.type in self._language.indexes:
            return inner.id != parent.children[0].id or parent.type == "slice"
        if parent.type in self._language.binary:
            operator = self._operator(parent)
            sign = text(operator) if operator is not None else ""
            if sign in ("<", "<=", ">", ">="):
                others = [child for child in (parent.children[0], parent.children[-1]) if child.id != inner.id]
                return not self._is_extreme(parent, *(text(child) for child in (others * 2)[:2]))
            return sign in ("+", "-", "==", "!=", "===", "!==") and not any(
                self._is_text_or_sequence(child) for child in parent.children
            )
        if parent.type in ("argument_list", "arguments") and parent.parent is not None:
            return self._called(parent.parent) in _BOUNDED_CALLS
        return False

    # --- Arguments ---

    def _swapped(self, node: Node) -> Iterator[Fault]:
        listed = node.child_by_field_name("arguments")
        if listed is None or self._called(node) in _ANY_ORDER:
            return
        arguments = [child for child in listed.named_children if child.type != "comment"]
        for first, second in pairwise(arguments):
            if text(first) == text(second) or not self._are_alike(first, second):
                continue
            between = self._source[first.end_byte : second.start_byte]
            if b"\n" in between:
                continue
            swapped = text(second) + between.decode() + text(first)
            why = f"The arguments are swapped: it should be `{short(node)}`."
            yield self._replaced("swapped_arguments", (first, second), swapped, node, why)

    def _are_alike(self, first: Node, second: Node) -> bool:
        kinds = {first.type, second.type}
        literals = self._language.integers | self._language.texts
        if kinds & literals:
            return len(kinds) == 1 and kinds <= literals
        if len(kinds) > 1 or not kinds <= _PLAIN:
            return False
        types = [self._types.get(text(argument)) for argument in (first, second)]
        if self._language.is_typed:
            return types[0] is not None and types[0] == types[1]
        return None in types or types[0] == types[1]

    def _called(self, node: Node) -> str:
        function = next(
            (
                child
                for name in ("function", "name", "constructor", "type")
                if (child := node.child_by_field_name(name))
            ),
            None,
        )
        return "" if function is None else re.split(r"[.:]", text(function))[-1]

    # --- Checks ---

    def _dropped_guard(self, node: Node) -> Iterator[Fault]:
        body, condition = node.child_by_field_name("consequence"), node.child_by_field_name("condition")
        if body is None or condition is None or node.child_by_field_name("initializer"):
            return
        if node.child_by_field_name("alternative") or (node.parent is not None and node.parent.type == "else_clause"):
            return
        inside = [body] if body.type in self._language.exits else statements(body)
        if len(inside) != 1 or inside[0].type not in self._language.exits:
            return
        following = next_statement(node)
        if following is None or not self._stands_alone(node):
            return
        written, leaves = text(condition), text(inside[0])
        if re.search(r":=|\bawait\b|(^|[^=!<>])=([^=]|$)|\+\+|--|\.pop\(|\.next\(|\bnext\(", written):
            return
        if (
            _EMPTY.fullmatch(leaves)
            or _RAISED_ANYWAY.search(leaves)
            or leaves.rstrip(";") == text(following).rstrip(";")
        ):
            return
        if self._language.name == "TypeScript" and _NARROWS.search(written):
            return
        if self._language.name == "Java" and is_within(node, "try_statement"):
            return
        if self._language.name == "Go" and not self._leaves_names_used(node):
            return
        yield self._line_dropped("dropped_check", node, f"A check is missing before this line: `{short(condition)}`.")

    def _dropped_operand(self, node: Node) -> Iterator[Fault]:
        operator = self._operator(node)
        if operator is None or text(operator) not in _AND or node.start_point.row != node.end_point.row:
            return
        left, right = node.children[0], node.children[-1]
        if re.search(r":=|\bawait\b", text(node)):
            return
        if self._language.name == "TypeScript" and _NARROWS.search(text(left)):
            return
        for kept, dropped in ((left, right), (right, left)):
            if self._guards_an_index(dropped):
                continue
            if self._language.name == "Go" and not self._leaves_names_used(dropped):
                continue
            if self._language.name == "TypeScript" and _NARROWS.search(text(dropped)):
                continue
            why = f"A check is missing: `{short(dropped)}`."
            yield self._replaced("dropped_check", node, text(kept), node, why)

    def _guards_an_index(self, node: Node) -> bool:
        """Whether the expression keeps an index of the other operand in its bounds, where reading outside raises
        nothing: JavaScript answers undefined, which mostly is as good."""
        parent = node.parent
        if self._language.name not in ("JavaScript", "TypeScript") or parent is None:
            return False
        if parent.type not in self._language.binary or node.type not in self._language.binary:
            return False
        names = {text(part) for part in walk(node) if part.type == "identifier"}
        others = (child for child in parent.named_children if child.id != node.id)
        indexes = (part for other in others for part in walk(other) if part.type in self._language.indexes)
        return any(text(part) in names for index in indexes for part in walk(index) if part.type == "identifier")

    def _leaves_names_used(self, dropped: Node) -> bool:
        """Whether every name of what goes is used elsewhere too: Go refuses one that is only declared or imported."""
        gone = Counter(text(node) for node in walk(dropped) if node.type in _NAME_NODES)
        inside = [*walk_function(dropped)]
        there = Counter(text(node) for node in inside if node.type in _NAME_NODES)
        declared = {
            text(name)
            for node in inside
            if node.type in ("short_var_declaration", "var_spec", "range_clause")
            for name in walk(node.child_by_field_name("left") or node.children[0])
        }
        quoted = self._source.decode("utf-8", "replace")
        is_whole = any(node.type == "package_clause" for node in self._root.children)
        for name, times in gone.items():
            if name in declared:
                # Its declaration, and one use.
                is_used = there[name] - times > 1
            elif re.search(rf'"([^"\n]*/)?{re.escape(name)}"', quoted):
                is_used = self._names[name] > times
            else:
                # In a part of a file nobody sees where it is declared.
                is_used = is_whole or name in _GO_BUILTIN or there[name] > times
            if not is_used:
                return False
        return True

    # --- Waiting ---

    def _not_awaited(self, node: Node) -> Iterator[Fault]:
        parent = node.parent
        if parent is None or len(node.named_children) != 1:
            return
        if self._language.name != "Python":
            if parent.type in ("return_statement", "arrow_function"):
                return
            if self._language.name == "TypeScript" and parent.type != "expression_statement":
                return
        awaited = node.named_children[0]
        if awaited.start_point.row != node.start_point.row:
            return
        gone = self._source[node.start_byte : awaited.start_byte]
        why = f"The call is not waited for: it should be `{short(node)}`."
        yield Fault(
            "removed_await", node.start_byte, awaited.start_byte, b"", *self._line_range(node), short(node),
            short(node).replace(gone.decode(), "", 1), why,
        )  # fmt: skip

    def _not_waited(self, node: Node) -> Iterator[Fault]:
        call = node.named_children[0] if node.named_children else None
        if call is None or call.type not in self._language.calls or self._called(call) not in self._language.waits:
            return
        arguments = call.child_by_field_name("arguments")
        if arguments is None or arguments.named_children or not self._stands_alone(node):
            return
        if (self._language.name == "Java" and is_within(node, "try_statement")) or next_statement(node) is None:
            return
        if self._language.name == "Go" and not self._leaves_names_used(node):
            return
        yield self._line_dropped("removed_await", node, f"Nothing waits before this line: `{short(call)}` is missing.")

    # --- Making them ---

    def _is_on_requested_lines(self, node: Node) -> bool:
        first, last = self._line_range(node)
        return all(line in self._wanted_lines for line in range(first, last + 1)) if last - first < 40 else False

    def _line_range(self, node: Node) -> tuple[int, int]:
        return node.start_point.row + 1, node.end_point.row + 1

    def _stands_alone(self, node: Node) -> bool:
        """Whether nothing else stands on the lines of a statement."""
        first, last = node.start_point, node.end_point
        ends = self._source_lines[last.row][last.column :].strip()
        return not self._source_lines[first.row][: first.column].strip() and ends in (
            b"",
            b";",
        )

    def _replaced(
        self, kind: FaultKind, place: Node | tuple[Node, Node], replacement: str, shown: Node, why: str
    ) -> Fault:
        start, end = (
            (place[0].start_byte, place[1].end_byte) if isinstance(place, tuple) else (place.start_byte, place.end_byte)
        )
        whole = self._source[shown.start_byte : start] + replacement.encode() + self._source[end : shown.end_byte]
        row = self._source.count(b"\n", 0, start) + 1
        after = one_line(whole.decode("utf-8", "replace"))
        return Fault(
            kind,
            start,
            end,
            replacement.encode(),
            row,
            row + self._source.count(b"\n", start, end),
            short(shown),
            after,
            why,
        )

    def _line_dropped(self, kind: FaultKind, node: Node, why: str) -> Fault:
        first, last = self._line_range(node)
        start = sum(len(row) + 1 for row in self._source_lines[: first - 1])
        end = min(len(self._source), sum(len(row) + 1 for row in self._source_lines[:last]))
        return Fault(kind, start, end, b"", first, last, short(node), "", why, drops_lines=True)

    # --- What is known of operands ---

    def _is_text_or_sequence(self, node: Node) -> bool:
        return any(
            part.type in self._language.texts or part.type in ("list", "array", "tuple") for part in walk(node)
        ) or (self._types.get(text(node)) in ("str", "string", "String", "list", "bytes"))

    def _is_number(self, node: Node) -> bool:
        if node.type in self._language.integers or node.type in (
            "float",
            "float_literal",
            "decimal_floating_point_literal",
        ):
            return True
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self._is_number(node.named_children[0])
        if node.type in self._language.binary:
            operator = self._operator(node)
            return (
                operator is not None
                and text(operator) in _ARITHMETIC
                and all(self._is_number(child) for child in (node.children[0], node.children[-1]))
            )
        written = text(node)
        if re.fullmatch(r"len\(.*\)|[\w.]+\.length(\(\))?|[\w.]+\.size\(\)", written):
            return True
        return self._types.get(written) in self._language.numbers
