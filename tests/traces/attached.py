"""Small repositories made by hand, as archives that are attached to a project."""

import io
import tarfile

from django.core.files.base import ContentFile

from accounts.models import Organisation, Project
from tenancy.actor import acting_in
from traces.attaching import attach_repository
from traces.models import Repository

COMMIT = "c0ffee" + "0" * 34
REPOSITORY = "octo/parser"


def archive(files: dict[str, str], commit: str = COMMIT) -> bytes:
    """What `git archive` writes of these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": commit}) as package:
        for path, text in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(text.encode())
            package.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def attached(
    organisation: Organisation, project: Project, files: dict[str, str], commit: str = COMMIT, name: str = REPOSITORY
) -> Repository:
    with acting_in(organisation):
        return attach_repository(
            project=project, name=name, file=ContentFile(archive(files, commit), name="parser.tar.gz")
        )
