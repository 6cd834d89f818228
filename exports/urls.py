"""Routes of exported files, under exports/."""

from django.urls import path

from exports import views

urlpatterns = [path("<uuid:export_id>/file/", views.download, name="export-file")]
