"""Where the web processes' time went in the last `BENCH_PROFILE=1 make bench`: `python -m bench.profile_note [10]`."""

import json
import sys
from collections import Counter

from bench.releases import FOLDER
from bench.served import ROOT


def main(count: int) -> None:
    """The functions with the most samples of their own, then those with the most in all that they call."""
    files = sorted(FOLDER.glob("profile-*.json"))
    if not files:
        sys.exit(f"No profile is in {FOLDER}. Make one: BENCH_PROFILE=1 make bench PYTEST='-k loop'")
    found = [json.loads(file.read_text()) for file in files]
    own, within = (sum((Counter(one[key]) for one in found), Counter()) for key in ("own", "within"))
    total = own.total()
    for title, counts, wanted in (("of their own", own, count), ("with what they call", within, count * 6)):
        print(f"Time of {total} samples, {title}")
        for name, samples in counts.most_common(wanted):
            print(f"{samples / total:7.1%}  {_short(name)}")


def _short(name: str) -> str:
    return name.rpartition("site-packages/")[2].removeprefix(f"{ROOT}/")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
