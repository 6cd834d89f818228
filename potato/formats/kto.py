"""`kto`: runs with one label each, desirable or not, for training on unpaired preferences."""

from typing import Any, Literal

from potato.formats.outcomes import OutcomeFormat, OutcomeOptions
from potato.formats.training import readable, step_text
from potato.runs.model import AgentRun


class KtoOptions(OutcomeOptions):
    completion: Literal["joined", "steps"] = "joined"
    """the run as one message of the assistant, which every chat template takes, or as a message for each step"""


class Kto(OutcomeFormat):
    """Each row has `prompt` (the task, a list with one message), `completion` (what the agent did) and `label`: true
    for a run that is desirable. Beside them stand the trace, its task, who judged, and `rule`: by verdict, by process
    rewards where there is no verdict, or by both under the majority.

    approve is desirable and request_changes is not; other verdicts need `--resolved`. By process rewards a run without
    a wrong step is. comment_only decides nothing and is left out, as are runs without a task or a step, and ties of the
    majority, all counted. Comments, ratings and the summaries of verdicts are not in the file: nothing of them is
    trained on.
    """

    name = "kto"
    label = "Runs that are desirable or not, one a line, for training on unpaired preferences"
    options = KtoOptions

    def content(self, run: AgentRun) -> dict[str, Any] | None:
        if not run.steps:
            self.leave_out("without_steps")
            return None
        texts = [step_text(step, self.chosen.step_text) for step in run.steps]
        if self.chosen.completion == "joined":
            texts = ["\n\n".join(texts)]
        return {
            "prompt": [{"role": "user", "content": readable(run.task)}],
            "completion": [{"role": "assistant", "content": text} for text in texts],
        }

    def labelled(self, content: dict[str, Any], is_good: bool) -> dict[str, Any]:
        return {**content, "label": is_good}
