"""`python -m tests.potato.formats.training_files FOLDER` writes the files that `train_check.py` trains on, with the
commands that people use.
"""

import shutil
import sys
from pathlib import Path

from potato.commands.export import main
from tests.potato.formats.files import folder
from tests.potato.formats.rewarded import RECORDS, RUNS
from tests.potato.formats.test_atif import DELEGATING, OF_DELEGATING

FILES = (
    ("prm", "prm.jsonl", ()),
    ("prm", "prm-majority.jsonl", ("--resolve", "majority", "--step-text", "full")),
    ("dpo", "dpo.jsonl", ("--prompt-style", "messages")),
    ("dpo", "dpo-corrections.jsonl", ("--prompt-style", "messages", "--pairs", "corrections")),
    ("kto", "kto.jsonl", ()),
    ("kto", "kto-steps.jsonl", ("--completion", "steps", "--step-text", "full")),
    ("orm", "orm.jsonl", ("--evidence", "both")),
    ("records_parquet", "records.parquet", ()),
    ("hf_dataset", "data_set", ("--split-by", "task", "--license", "cc-by-4.0")),
    ("swebench", "swebench.zip", ()),
)


def write(target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    source = folder(target / "output", RECORDS, *RUNS)
    for format, name, flags in FILES:
        main(["-i", str(source), "-f", format, "-o", str(target / name), *flags])
    delegating = folder(target / "delegating", [*RECORDS, *OF_DELEGATING], *RUNS, DELEGATING)
    main(["-i", str(delegating), "-f", "atif", "-o", str(target / "trajectories.jsonl")])


if __name__ == "__main__":
    write(Path(sys.argv[1]))
