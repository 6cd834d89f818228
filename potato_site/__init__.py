"""The project: settings, routes, Celery, the admin site, health, and the servers of development."""

from potato_site.celery import app as celery_app

__all__ = ["celery_app"]
