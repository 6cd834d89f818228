"""A pytest plugin (`-p potato_site.devservices.for_tests`): the servers of the tests, before Django's settings are read."""

import os

from potato_site import devservices

os.environ["POTATO_MODE"] = "test"
devservices.ensure("test")
