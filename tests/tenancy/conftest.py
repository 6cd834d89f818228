"""What several stories of tenancy need."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings


@pytest.fixture
def trial_site(settings: Settings) -> Client:
    """The site with the routes of tests.tenancy.site_urls and organisation_urls; failures are answers of 500."""
    settings.ROOT_URLCONF = "tests.tenancy.site_urls"
    settings.ORGANISATION_URLCONF = "tests.tenancy.organisation_urls"
    return Client(raise_request_exception=False)
