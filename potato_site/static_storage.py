"""Static files by their content's hash, the modules that JavaScript imports included."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # WhiteNoise ships no types
    """A module imports its neighbours by their hashed names too, so that no page mixes two versions."""

    support_js_module_import_aggregation = True
