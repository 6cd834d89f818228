"""The configuration of a project: read from YAML, checked with line numbers, frozen, versioned by whoever keeps it.

Pure Python: no Django, no database, no files. Scheme types come from installed packages.
"""

from potato.configuration.check import CheckedConfiguration, check_configuration
from potato.configuration.differences import differences
from potato.configuration.json_schema import json_schema
from potato.configuration.pinning import UnreadablePinError, pinned
from potato.configuration.project import ProjectConfiguration
from potato.schemes.breaking_changes import BreakingChange
from potato.schemes.registry import SchemeConfiguration, SchemeType
from potato.validation.problems import Problem

__all__ = [
    "BreakingChange",
    "CheckedConfiguration",
    "Problem",
    "ProjectConfiguration",
    "SchemeConfiguration",
    "SchemeType",
    "UnreadablePinError",
    "check_configuration",
    "differences",
    "json_schema",
    "pinned",
]
