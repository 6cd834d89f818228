"""The site as gunicorn serves it. It does not start with a failed check or a role that bypasses row-level security."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "potato_site.settings")

application = get_wsgi_application()

from tenancy import limits  # noqa: E402  (needs the loaded apps)
from tenancy.checks import refuse_to_start_unchecked  # noqa: E402

limits.serve_requests()
refuse_to_start_unchecked()

# What is loaded stays as long as the process, and the garbage collector need not look through it again and again: an
# annotator's loop takes some 4 % less time (`bench/bench_annotator_loop.py`).
gc.collect()
gc.freeze()
