"""Routes of a project's agreement, under p/<project>/agreement/."""

from django.urls import path

from agreement import views

urlpatterns = [
    path("", views.agreement_page, name="agreement"),
]
