"""A file that somebody attaches to a repository's name: a bundle or an archive, found by its beginning."""

from potato.repositories.archives import is_archive, read_archive
from potato.repositories.bundles import is_bundle, read_bundle
from potato.repositories.model import ReadRepository, RepositoryBounds, UnreadableRepository


def read_repository(
    data: bytes, commit: str = "", bounds: RepositoryBounds | None = None, name: str = ""
) -> ReadRepository:
    """What the file of the repository `name` holds. `commit` is of which one an archive is that does not say it itself.

    Raises UnreadableRepository.
    """
    bounds = bounds or RepositoryBounds()
    if len(data) > bounds.file_bytes:
        raise UnreadableRepository(
            "file_too_large",
            f"The file has {len(data):,} bytes; {bounds.file_bytes:,} may be attached. Attach an archive of the one "
            "commit: git archive --format=tar.gz COMMIT",
        )
    if is_bundle(data):
        read = read_bundle(data, bounds)
        if read.prerequisites:
            raise UnreadableRepository(
                "has_prerequisites",
                f"The bundle holds only what came after {read.prerequisites[0]}, so no file can be read whole. Make it "
                "of a whole history: git bundle create FILE REFERENCE",
            )
        return read
    if is_archive(data):
        return read_archive(data, bounds, commit, name)
    raise UnreadableRepository(
        "unknown_file",
        "It is neither a git bundle (git bundle create FILE REFERENCE) nor an archive (git archive "
        "--format=tar.gz COMMIT, or a ZIP).",
    )
