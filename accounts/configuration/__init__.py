"""The configuration of a project: read from YAML, checked with line numbers, frozen, versioned by whoever keeps it.

Pure Python: no Django, no database, no files. Scheme types come from installed packages.
"""

from accounts.configuration.check import CheckedConfiguration, check_configuration
from accounts.configuration.differences import differences
from accounts.configuration.json_schema import json_schema
from accounts.configuration.pinning import UnreadablePinError, pinned
from accounts.configuration.problems import Problem
from accounts.configuration.project import ProjectConfiguration
from accounts.configuration.registry import SchemeConfiguration, SchemeType
from accounts.configuration.stripping import Stripped

__all__ = [
    "CheckedConfiguration",
    "Problem",
    "ProjectConfiguration",
    "SchemeConfiguration",
    "SchemeType",
    "Stripped",
    "UnreadablePinError",
    "check_configuration",
    "differences",
    "json_schema",
    "pinned",
]
