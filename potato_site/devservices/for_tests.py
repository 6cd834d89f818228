"""A pytest plugin, `-p potato_site.devservices.for_tests`: starts the tests' servers before settings are read."""

import os

from potato_site import devservices

os.environ["POTATO_MODE"] = "test"
devservices.ensure("test")
