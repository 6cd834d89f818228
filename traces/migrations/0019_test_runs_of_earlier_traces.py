"""The tests that agents ran are found in traces that were imported before they were kept.

Each run that has calls is read once. What is done stays done: the migration may be ended, and goes on with the traces
that have none.
"""

import json
from uuid import UUID

from django.db import migrations

TRACES_AT_ONCE = 50
READ = """
SELECT t.id, t.organisation_id, b.packed
  FROM traces_trace t
  JOIN traces_body b ON b.organisation_id = t.organisation_id AND b.sha256 = t.content_sha256
 WHERE t.id > %s AND t.tool_calls > 0 AND t.test_runs = '[]'
 ORDER BY t.id LIMIT %s
"""
FILL = "UPDATE traces_trace SET test_runs = %s, tests_outcome = %s WHERE organisation_id = %s AND id = %s"


def fill(apps, schema_editor):
    from potato.runs.converters.native import run_in
    from potato.runs.model import ReadingOptions
    from traces.importing.kept_test_runs import kept_test_runs
    from traces.models.bodies import unpack

    options = ReadingOptions()
    last = UUID(int=0)
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(READ, (last, TRACES_AT_ONCE))
            rows = cursor.fetchall()
            for trace, organisation, packed in rows:
                run = run_in(unpack(packed), options)
                kept = kept_test_runs(run) if run is not None else {"test_runs": []}
                if kept["test_runs"]:
                    cursor.execute(FILL, (json.dumps(kept["test_runs"]), kept["tests_outcome"], organisation, trace))
            if not rows:
                return
            last = rows[-1][0]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("traces", "0018_reports_of_tests_and_checkers")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
