"""Routes of a project's page, under p/<project>/."""

from django.urls import path

from dashboard import views

urlpatterns = [
    path("", views.project_page, name="project"),
    path("exports/", views.project_exports, name="project-exports"),
]
