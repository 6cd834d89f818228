"""Routes of a project's traces, under p/<project>/traces/. A fragment's address names its content for ever."""

from django.urls import path

from traces import import_views, repository_views, views

urlpatterns = [
    path("imports/", import_views.imports, name="imports"),
    path("imports/live/", import_views.imports_live, name="imports-live"),
    path("imports/new/", import_views.new_import, name="import-new"),
    path("imports/uploads/", import_views.begin_upload, name="import-upload-new"),
    path("imports/uploads/part/", import_views.upload_part, name="import-upload"),
    path("imports/samples/", import_views.import_samples, name="import-samples"),
    path("imports/<uuid:file_id>/", import_views.one_import, name="import"),
    path("imports/<uuid:file_id>/live/", import_views.import_live, name="import-live"),
    path("imports/<uuid:file_id>/cancel/", import_views.cancel, name="import-cancel"),
    path("imports/<uuid:file_id>/again/", import_views.again, name="import-again"),
    path("imports/<uuid:file_id>/undo/", import_views.undo, name="import-undo"),
    path("imports/<uuid:file_id>/problems.csv", import_views.problems, name="import-problems"),
    path("repositories/", repository_views.repositories, name="repositories"),
    path("repositories/<uuid:repository_id>/remove/", repository_views.remove, name="repository-remove"),
    path("<uuid:trace_id>/", views.trace_files, name="trace"),
    path("<uuid:trace_id>/base/", views.trace_base, name="trace-base"),
    path("<uuid:trace_id>/base/run.patch", views.trace_patch, name="trace-patch"),
    path("<uuid:trace_id>/steps/", views.trace_steps, name="trace-steps"),
    path(
        "<uuid:trace_id>/files/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        views.file_part,
        name="trace-file-fragment",
    ),
    path(
        "<uuid:trace_id>/steps/<int:index>/<slug:sha256>/<int:version>/<slug:key>/<slug:part>.html",
        views.step_part,
        name="trace-step-fragment",
    ),
    path("<uuid:trace_id>/pictures/<slug:sha256>/<slug:size>.webp", views.trace_picture, name="trace-picture"),
]
