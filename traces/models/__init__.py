"""What was imported: traces with their steps and files, the files they came from, and what is shown of them."""

from traces.models.bodies import Body, Fragment, Picture
from traces.models.checks import CheckOutcome, CheckReport
from traces.models.imports import ImportedFile, ImportedMember, ImportProblem, TaskText
from traces.models.repositories import Repository, RepositoryCommit, RepositoryObject
from traces.models.secrets import SecretsState, TraceSecrets
from traces.models.traces import Trace, TraceFile, TraceStep, pictures_of, step_with_picture

__all__ = [
    "Body",
    "CheckOutcome",
    "CheckReport",
    "Fragment",
    "ImportProblem",
    "ImportedFile",
    "ImportedMember",
    "Picture",
    "Repository",
    "RepositoryCommit",
    "RepositoryObject",
    "SecretsState",
    "TaskText",
    "Trace",
    "TraceFile",
    "TraceSecrets",
    "TraceStep",
    "pictures_of",
    "step_with_picture",
]
