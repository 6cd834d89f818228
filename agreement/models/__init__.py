"""Reports of how far people agree, and when a project has them computed."""

from agreement.models.reports import AgreementReport, Reason
from agreement.models.rules import AgreementRule

__all__ = ["AgreementReport", "AgreementRule", "Reason"]
