"""`python -m potato`: the command `potato`."""

import sys

from potato.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
