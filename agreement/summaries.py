"""A report as a text to pass on: what it says, every measure, and each person against the rest, in Markdown."""

from agreement.filters import filters_in_words
from agreement.models import AgreementReport
from agreement.pages import comparison_named, sections
from agreement.people import people
from agreement.tables import markdown_text
from agreement.wording import summarise_report
from potato.wording import counted


def _alone(report: AgreementReport) -> str:
    return f", of {filters_in_words(report.filters)} alone" if report.filters else ""


def markdown_summary(report: AgreementReport) -> str:
    """Figures without a value say why. Names of annotators are as exports have them."""
    figures = report.figures
    parts = [
        f"# Agreement of {report.project.slug}",
        f"{counted(report.annotations, 'annotation')}, {counted(report.shared_traces, 'trace')} judged by two people "
        f"or more{_alone(report)}; computed {report.computed_at:%Y-%m-%d %H:%M} UTC, SHA-256 of the figures "
        f"`{report.sha256}`.",
    ]
    if report.shared_traces:
        words = summarise_report(figures)
        parts += [words.headline, words.sentences]
    rows = [
        (row.title, row.value or row.why, row.interval_words, row.basis)
        for section in sections(figures)
        for row in section.rows
    ]
    parts.append(f"## Measures\n\n{markdown_text(['Measure', 'Value', '95% interval', 'Basis'], rows)}".rstrip())
    parts += [f"{section.title}: {section.unjudged}" for section in sections(figures) if section.unjudged]
    compared = comparison_named(figures, "")
    if compared is not None:
        beside = people(report, compared, "")
        named = [
            (row.title, row.value or row.why, row.interval_words, row.share, row.basis, row.took, row.badge)
            for row in beside.rows
        ]
        heading = ["Annotator", "Value", "95% interval", "Same", "Basis", "Median time", "Remark"]
        title = f"## Each person against the rest: {beside.title}, {beside.measure}"
        parts.append(f"{title}\n\n{markdown_text(heading, named)}".rstrip())
    return "\n\n".join(part for part in parts if part) + "\n"
