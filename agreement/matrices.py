"""Who says what when they differ: how many pairs chose each two values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from agreement.confusions import confused, pairs_of_values
from agreement.models import AgreementReport
from potato.wording import counted, title_case

MOST_VALUES = 8
"""A matrix of more values than these is not drawn."""


@dataclass(frozen=True)
class Cell:
    """How many pairs chose two values, with the share of its row; `depth` is how strong it is tinted."""

    number: int
    share: str
    is_same: bool
    depth: int
    is_costly: bool
    url: str


@dataclass(frozen=True)
class Matrix:
    title: str
    pairs: int
    values: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    most_frequent: str
    most_frequent_url: str = ""


def matrices(report: AgreementReport) -> list[Matrix]:
    """Who says what when they differ, of everything that has a few values."""
    return [
        made
        for number, comparison in enumerate(report.figures["compared"])
        if comparison["main"] != "alpha_interval" and (made := _matrix(report, number, comparison))
    ]


def traces_query(report: AgreementReport, number: int, of: Sequence[Any]) -> str:
    """The part of an address that names the traces of two choices."""
    return urlencode({"report": str(report.pk), "on": number, "of": [str(value) for value in of]}, doseq=True)


def _matrix(report: AgreementReport, number: int, comparison: Mapping[str, Any]) -> Matrix | None:
    """None where fewer than two values were chosen, or too many to be drawn. Values that nobody chose are left out."""
    chosen = [at for at, row in enumerate(comparison["confusion"]) if any(row)]
    if not 1 < len(chosen) <= MOST_VALUES:
        return None
    counts = [[comparison["confusion"][at][other] for other in chosen] for at in chosen]
    values = [comparison["values"][at] for at in chosen]
    of_examples = [example["of"] for example in comparison["examples"]]
    both = pairs_of_values(counts)
    most_frequent = next(iter(confused(both)), None)
    rows = []
    for at, value in enumerate(values):
        total = sum(both[at])
        cells = []
        for other, second in enumerate(values):
            here = both[at][other]
            of = next((of for of in of_examples if sorted(map(str, of)) == sorted(map(str, (value, second)))), None)
            share = here / total if total else 0
            cells.append(
                Cell(
                    here,
                    f"{share:.0%}" if total else "",
                    at == other,
                    min(3, round(share * 4)),
                    most_frequent is not None and {at, other} == {*most_frequent[1:]},
                    traces_query(report, number, of) if here and of else "",
                )
            )
        rows.append((_value(value), tuple(cells)))
    pairs = round(sum(sum(row) for row in counts))
    words = f"{_value(values[most_frequent[1]])} against {_value(values[most_frequent[2]])}" if most_frequent else ""
    return Matrix(
        comparison["title"] if comparison["unit"] != "comments" else "Category of matched comments",
        pairs,
        tuple(map(_value, values)),
        tuple(rows),
        f"{counted(most_frequent[0], 'pair')}: {words}" if most_frequent else "",
        next((cell.url for _, cells in rows for cell in cells if cell.is_costly), ""),
    )


def _value(value: Any) -> str:
    return title_case(value) if isinstance(value, str) else f"{value:g}"
