"""Routes of process rewards under p/<project>/."""

from django.urls import path

from rewards import views

urlpatterns = [path("statistics/", views.project_statistics, name="project-statistics")]
