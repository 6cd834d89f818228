"""Routes of a project's agreement, under p/<project>/agreement/."""

from django.urls import path

from agreement import views
from agreement.schedule_pages import AgreementSchedulePages
from agreement.sources import views as sources
from agreement.sources.answers_page import answers

urlpatterns = [
    path("", views.agreement_page, name="agreement"),
    path("part/", views.agreement_part, name="agreement-part"),
    path("compute/", views.compute_agreement, name="compute-agreement"),
    path("history/", views.agreement_history, name="agreement-history"),
    *AgreementSchedulePages().urls(),
    path("traces/", views.agreement_traces, name="agreement-traces"),
    path("traces/ask/", views.ask_third_person, name="agreement-ask"),
    path("reports/<uuid:report_id>/figures.json", views.report_file, {"kind": "json"}, name="agreement-json"),
    path("reports/<uuid:report_id>/figures.csv", views.report_file, {"kind": "csv"}, name="agreement-csv"),
    path("reports/<uuid:report_id>/figures.md", views.report_file, {"kind": "md"}, name="agreement-markdown"),
    path("reports/<uuid:report_id>/<slug:plot>.md", views.plot_file, {"kind": "md"}, name="agreement-plot-markdown"),
    path("reports/<uuid:report_id>/<slug:plot>.svg", views.plot_file, {"kind": "svg"}, name="agreement-plot-svg"),
    path("reports/<uuid:report_id>/<slug:plot>.png", views.plot_file, {"kind": "png"}, name="agreement-plot-png"),
    path("reports/<uuid:report_id>/<slug:plot>.csv", views.plot_file, {"kind": "csv"}, name="agreement-plot-csv"),
    path("machines/", sources.machines, name="agreement-machines"),
    path("machines/import/", sources.import_answers, name="agreement-machines-import"),
    path("machines/compare/", sources.compare, name="agreement-machines-compare"),
    path("machines/send/", sources.send, name="agreement-machines-send"),
    path(
        "machines/reports/<uuid:source_report_id>/<slug:plot>.svg",
        sources.plot_file,
        {"kind": "svg"},
        name="agreement-machines-plot-svg",
    ),
    path(
        "machines/reports/<uuid:source_report_id>/<slug:plot>.png",
        sources.plot_file,
        {"kind": "png"},
        name="agreement-machines-plot-png",
    ),
    path(
        "machines/reports/<uuid:source_report_id>/<slug:plot>.csv",
        sources.plot_file,
        {"kind": "csv"},
        name="agreement-machines-plot-csv",
    ),
    path(
        "machines/reports/<uuid:source_report_id>/<slug:plot>.md",
        sources.plot_file,
        {"kind": "md"},
        name="agreement-machines-plot-markdown",
    ),
    path("machines/<uuid:source_id>/", answers, name="agreement-machines-said"),
    path("machines/<uuid:source_id>/answers.jsonl", sources.answers_file, name="agreement-machines-answers"),
]
