"""The lines of traces in an archive, made in the plainest way: one by one, each with questions of its own."""

import json
from base64 import b64encode

from traces.models import Body, Picture, Trace


def line_of(trace: Trace) -> bytes:
    """The run as it was stored, its pictures inside, and what the import named it. Read as the trace's organisation."""
    run = Body.objects.get(organisation=trace.organisation_id, sha256=trace.content_sha256).content
    for step in run.get("steps", ()):
        if (shot := step.get("screenshot")) and shot.get("sha256"):
            whole = bytes(Picture.objects.get(sha256=shot["sha256"]).whole)
            shot["data"] = "data:image/webp;base64," + b64encode(whole).decode("ascii")
    name = trace.external_id
    keeps_its_name = next(iter(run)) == "id" and run["id"] in ("", name)
    line = {**run, "id": name} if keeps_its_name else run
    if trace.version > 1:
        line["trace_version"] = trace.version
    if not keeps_its_name:
        line["external_id"] = name
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode("ascii")
