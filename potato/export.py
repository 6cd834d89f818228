"""`python -m potato.export -i PATH -f FORMAT -o FILE`: exports from files. The work is potato.commands.export's."""

import sys

from potato.commands.export import main

if __name__ == "__main__":
    sys.exit(main())
