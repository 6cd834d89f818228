"""Routes of a project's page, under p/<project>/."""

from django.urls import path

from dashboard import views

urlpatterns = [
    path("", views.project_page, name="project"),
    path("live/", views.project_live, name="project-live"),
    path("attention/", views.project_attention, name="project-attention"),
]
