"""Files of other agents come in as any other: packed ones, logs that are ZIPs, and folders of conversations."""

import io
import json
import zipfile

import pytest
import zstandard

from tenancy.actor import acting_in
from tests.potato.runs.converters.test_codex import RolloutFile
from tests.potato.runs.converters.test_codex import family as rollouts
from tests.potato.runs.converters.test_inspect import SAMPLE, as_eval
from tests.potato.runs.converters.test_openhands import files_of_v1
from tests.tenants import Tenants
from tests.traces.test_imports import upload
from traces.models import ImportedFile, ImportProblem, Trace

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_layout_comes_in_with_its_runs_and_none_of_its_parts_alone(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as package:
        for name, data in {**files_of_v1(), **rollouts()}.items():
            package.writestr(name, data)
    rollout = RolloutFile(id="packed").user("Round.").agent("Done.").data
    upload(tenants, as_eval(SAMPLE, {**SAMPLE, "epoch": 2}), name="log.eval")
    upload(tenants, zstandard.ZstdCompressor().compress(rollout), name="rollout-1-packed.jsonl.zst")
    upload(tenants, packed.getvalue(), name="runs.zip")
    with acting_in(tenants.acme):
        # Both epochs of the log have a tool that gave back three bytes as a picture.
        sentence = "image/png cannot be shown: it is no PNG, JPEG or WebP picture. The step shows its name instead."
        problems = ImportProblem.objects.values_list("file__name", "sentence")
        assert list(problems) == [("log.eval", sentence)] * 2
        counts = {file.name: file.traces.count() for file in ImportedFile.objects.all()}
        assert counts == {"log.eval": 2, "rollout-1-packed.jsonl.zst": 1, "runs.zip": 2}
        converters = sorted(Trace.objects.values_list("converter", flat=True))
        assert converters == ["codex", "codex", "inspect", "inspect", "openhands"]


def test_a_rollout_that_went_on_is_a_new_version_and_its_beginning_is_known(committed_tenants: Tenants) -> None:
    tenants = committed_tenants
    file = RolloutFile(id="growing").user("Round.").agent("I look.").user("Go on.")
    early = file.data
    late = file.agent("Done.").data
    for data in (early, late, early):
        upload(tenants, data, name="rollout-1-growing.jsonl")
    with acting_in(tenants.acme):
        versions = Trace.objects.order_by("version").values_list("version", "steps_count")
        assert list(versions) == [(1, 1), (2, 2)]
    assert json.loads(late.splitlines()[0])["type"] == "session_meta"
