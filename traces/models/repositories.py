"""Repositories that are attached to a project: their commits, and what their files held there."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from isal import igzip

from tenancy.constraints import SameOrganisation
from tenancy.models import TenantModel


class Repository(TenantModel):
    """A bundle or archive that somebody attached to the name of a repository, as the project's traces name it.

    `name` is as potato.repositories.model.repository_name gives it; one name may have several files, each with commits
    of its own. `objects_held` are the ids of what the file holds, twenty bytes each: so that what no other file holds
    goes with it. `clone_url` is where people get it from, "" where nobody said.
    """

    project = models.ForeignKey("accounts.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    name = models.CharField(max_length=300)
    clone_url = models.CharField(max_length=500, blank=True)
    file_name = models.CharField(max_length=300)
    kind = models.CharField(max_length=12)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    commits_count = models.PositiveIntegerField()
    left_out = models.PositiveIntegerField()
    objects_held = models.BinaryField()
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    added_at = models.DateTimeField(default=timezone.now)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_repository_project", field="project"),
            models.UniqueConstraint(
                fields=["organisation", "project", "name", "sha256"], name="traces_repository_file"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class RepositoryCommit(TenantModel):
    """A commit of an attached file, with the tree of its files."""

    repository = models.ForeignKey(
        Repository, on_delete=models.PROTECT, related_name="commits", db_index=False, db_constraint=False
    )
    commit = models.CharField(max_length=40)
    tree = models.CharField(max_length=40)

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            SameOrganisation(name="traces_repositorycommit_repository", field="repository"),
            models.UniqueConstraint(
                fields=["organisation", "repository", "commit"], name="traces_repositorycommit_commit"
            ),
        ]

    def __str__(self) -> str:
        return self.commit


class RepositoryObject(TenantModel):
    """A folder or a file of any attached repository, by the id that git gives its content: kept once."""

    git_id = models.CharField(max_length=40)
    packed = models.BinaryField()

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["organisation", "git_id"], name="traces_repositoryobject_id"),
        ]

    def __str__(self) -> str:
        return self.git_id

    @property
    def content(self) -> bytes:
        content: bytes = igzip.decompress(self.packed)
        return content
