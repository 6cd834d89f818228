"""What is packed comes back as it was, whichever reader takes it."""

import json
import math
import tracemalloc
from typing import Any

import pytest

from potato.runs.exact_json import canonical_parts
from traces.models.bodies import pack, pack_in_parts, unpack

PATCH = '@@ -1 +1 @@\n-a\t\\ "quoted" \u2028\n+\U0001f954 é \r\n'


@pytest.mark.parametrize(
    "value",
    [
        "\ud83d alone",
        {"\udc00": ["\ud800", "\U0001f600"], "before": 1},
        "nul \x00 and \x7f",
        [0, -0.0, 1e-320, 1.7976931348623157e308, 0.1 + 0.2, 2**53 + 1, 10**300, -(10**40)],
        [True, None, "", {}, [], {"": {"": []}}],
        {"old_text": PATCH * 200, "hunks": [{"lines": [["+", None, number, PATCH, "\n"] for number in range(300)]}]},
    ],
)
def test_a_value_comes_back_as_pythons_reader_gives_it(value: Any) -> None:
    back = unpack(pack(value))
    assert back == value == json.loads(json.dumps(value))
    assert json.dumps(back) == json.dumps(value)  # 1 is not 1.0, and the keys keep their order
    if isinstance(value, dict):
        assert json.dumps(unpack(pack_in_parts(value))) == json.dumps(value)


def test_a_large_run_is_hashed_and_packed_without_being_in_memory_once_more() -> None:
    record = {"id": "large", "steps": [{"message": f"{number:07}" * 30_000} for number in range(100)]}
    tracemalloc.start()
    try:
        size = sum(map(len, canonical_parts(record)))
        _, peak = tracemalloc.get_traced_memory()
        packed = pack_in_parts(record)
        _, peak_of_packing = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size > 20_000_000
    assert max(peak, peak_of_packing) < 3_000_000
    assert unpack(packed) == record


def test_what_is_deeper_than_one_reader_goes_and_what_is_no_number_come_back_too() -> None:
    deep: Any = "ground"
    for _ in range(400):
        deep = [deep]
    assert unpack(pack(deep)) == deep
    infinite, none = unpack(pack([math.inf, math.nan]))
    assert infinite == math.inf
    assert math.isnan(none)
