"""Embedded PostgreSQL and Valkey for development and tests; production starts nothing and never comes here.

Knows nothing of Django: it runs before the settings are read.
"""

from potato_site.devservices.errors import ServiceError
from potato_site.devservices.services import Services, ensure

__all__ = ["ServiceError", "Services", "ensure"]
