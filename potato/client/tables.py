"""Records as tables, for packages that are there if somebody installed them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from potato.statistics.extras import MissingExtra


def frame(records: Sequence[dict[str, Any]]) -> Any:
    """A pandas.DataFrame with a row for each record: the keys of a record as columns, and the part of each scheme as it
    stands in the record under `annotations.<scheme>`. Timestamps are times of UTC. Raises MissingExtra."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("Tables are made with pandas, which is missing: pip install pandas") from None
    rows = [
        {name: value for name, value in record.items() if name != "annotations"}
        | {f"annotations.{scheme}": part for scheme, part in record["annotations"].items()}
        for record in records
    ]
    table = pandas.DataFrame(rows)
    if "timestamp" in table:
        table["timestamp"] = pandas.to_datetime(table["timestamp"], utc=True)
    return table


def dataset(records: Sequence[dict[str, Any]]) -> Any:
    """A datasets.Dataset with a row for each record: what is text, number or truth as it is, everything else, and so
    `annotations`, as JSON text: schemes answer in many shapes, and a column has one. Raises MissingExtra."""
    try:
        import datasets
    except ImportError:
        raise MissingExtra("Data sets are made with datasets, which is missing: pip install datasets") from None
    names = list(dict.fromkeys(name for record in records for name in record))
    return datasets.Dataset.from_dict({name: [_plain(record.get(name)) for record in records] for name in names})


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else json.dumps(value)
