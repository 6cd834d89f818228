"""Where the web processes' time went in the last `BENCH_PROFILE=1 make bench`: `python -m bench.profile_note`."""

import pstats
import sys

from bench.releases import FOLDER


def main(count: int) -> None:
    """The functions with the most time of their own, then those with the most with all that they call."""
    files = sorted(FOLDER.glob("profile-*.pstats"))
    if not files:
        sys.exit(f"No profile is in {FOLDER}. Make one: BENCH_PROFILE=1 make bench PYTEST='-k loop'")
    stats = pstats.Stats(str(files[0]))
    for file in files[1:]:
        stats.add(str(file))
    stats.sort_stats("tottime").print_stats(count)
    stats.sort_stats("cumulative").print_stats(count * 4)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
