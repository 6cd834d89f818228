#!/usr/bin/env python
"""Django's commands for this site; in development they find the servers they need, or start them."""

import os
import sys

SERVERLESS = {"", "help", "version", "--help", "-h", "--version", "provision_database"}


def main(arguments: list[str]) -> None:
    """Run one command. POTATO_MODE=production starts nothing and takes every address from the environment."""
    mode = os.environ.setdefault("POTATO_MODE", "development")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "potato_site.settings")
    command = arguments[1] if len(arguments) > 1 else ""
    if mode != "production" and command not in SERVERLESS:
        from potato_site import devservices, supervisor

        try:
            if command == "run":
                # Told before a server is started.
                supervisor.port_from_environment()
            devservices.ensure("test" if mode == "test" else "development")
        except (devservices.ServiceError, supervisor.SupervisorError) as error:
            sys.exit(f"potato: {error}")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(arguments)
    except ImproperlyConfigured as error:
        sys.exit(f"potato: {error}")


if __name__ == "__main__":
    main(sys.argv)
