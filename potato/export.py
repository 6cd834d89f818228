"""`python -m potato.export -i PATH -f FORMAT -o FILE`: exports from files. The work is exports.command's."""

import sys

from exports.command import main

if __name__ == "__main__":
    sys.exit(main())
