"""Runs a program that ends with its parent: `python die_with_parent.py PARENT_PID PROGRAM ARGUMENTS...`.

On Linux the kernel sends it SIGTERM when the parent is gone, even when the parent was killed. Elsewhere only
the parent's own shutdown ends it. Run by its path, so that it imports nothing of the site.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            sys.exit("the parent ended before the program began")
    os.execvp(program[0], program)  # noqa: S606 - the supervisor's own list, through no shell
