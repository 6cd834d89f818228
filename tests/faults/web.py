"""The site as gunicorn starts it for the stories of this folder (`gunicorn tests.faults.web`), with a gate.

A story writes a request's method, the end of its path and a moment into the file `gate` of $TESTS_GATE. The first such
request stops there, before the site has seen it or after the site has done all it does, and waits for kill -9.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from potato_site.wsgi import application as site

GATE = Path(os.environ["TESTS_GATE"])


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    _stop_at(environ, "before")
    answer = site(environ, start_response)
    _stop_at(environ, "after")
    return answer


def _stop_at(environ: dict[str, Any], moment: str) -> None:
    gate = GATE / "gate"
    with suppress(FileNotFoundError):
        method, ending, wanted = gate.read_text().split()
        if environ["REQUEST_METHOD"] != method or not environ["PATH_INFO"].endswith(ending) or moment != wanted:
            return
        gate.rename(GATE / "reached")
        while True:
            time.sleep(1)
