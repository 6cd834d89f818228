"""Static files by their content's hash, the modules that JavaScript imports included."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class LeanScripts:
    """A storage whose JavaScript is read without comments, white space and long local names.

    Beside their weight, comments name types of other modules as imports do, also of those that import them: a name
    with a hash could never be found for such a circle.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._storage, name)

    def open(self, name: str, mode: str = "rb") -> File[Any]:
        # Brings a runtime with threads of its own, which a process that forks must not have.
        import minify

        with self._storage.open(name) as file:
            lean = minify.string("application/javascript", file.read().decode("utf-8"))
            return ContentFile(lean.encode("utf-8"), name)


class HashedStaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise ships no types
    """A module imports its neighbours by their hashed names too, so that no page mixes two versions."""

    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._addresses: dict[str, str] = {}

    def url(self, name: str | None, force: bool = False) -> str:
        """The address of a file, made once for each: a page names many, and the manifest is read but once, too."""
        if force or name is None or settings.DEBUG:
            return str(super().url(name, force))
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = str(super().url(name))
        return address

    def post_process(
        self, paths: Mapping[str, tuple[Storage, str]], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        lean = {
            name: (LeanScripts(storage) if name.endswith(".js") else storage, path)
            for name, (storage, path) in paths.items()
        }
        yield from super().post_process(lean, dry_run=dry_run, **options)
