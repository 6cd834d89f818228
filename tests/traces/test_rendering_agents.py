"""What stands around an agent's own act: sub-agents under their call, refusals, and words that came last."""

import re

import pytest

from potato.runs.model import Step, SubAgent, ToolCall
from traces.rendering.dividers import shown_dividers
from traces.rendering.parts import Part
from traces.rendering.steps import Display, RenderedStep, StepOptions, render_step

CALL = ToolCall("c1", "Agent", {"prompt": "Round."}, "Rounded.")
OTHER = ToolCall("c2", "Bash", {"command": "ls"}, "cart.py")


def agent(steps: int, name: str = "fixer", call_id: str = "c1") -> SubAgent:
    return SubAgent(name, call_id, "Round.", tuple(Step(f"I act {number}.") for number in range(steps)))


def rendered(step: Step, display: Display = "coding_trace") -> RenderedStep:
    return render_step(step, StepOptions(display=display))


def first(step: Step, display: Display = "coding_trace") -> str:
    return str(rendered(step, display).parts[0].html)


@pytest.mark.parametrize("display", ["coding_trace", "agent_trace", "web_agent"])
def test_a_sub_agents_steps_are_folded_under_the_call_that_started_it(display: Display) -> None:
    html = first(Step("Both.", calls=(CALL, OTHER), agents=(agent(2),)), display)
    assert "Sub-agent <b>fixer</b>: 2 steps" in html
    assert html.index("Rounded.") < html.index("I act 0.") < html.index("I act 1.") < html.index("cart.py")
    assert html.index("<details") < html.index("I act 0.")


def test_an_agent_of_which_no_call_is_known_stands_at_the_steps_end() -> None:
    html = first(Step("Both.", calls=(CALL, OTHER), agents=(agent(1, call_id=""), agent(1, "lost", "gone"))))
    assert html.index("cart.py") < html.index("<b>fixer</b>: 1 step<") < html.index("<b>lost</b>")


def test_many_steps_of_a_sub_agent_are_loaded_in_portions_of_which_none_is_lost() -> None:
    parts = rendered(Step(calls=(CALL,), agents=(agent(50),))).parts
    by_key = {part.key: str(part.html) for part in parts}
    assert len(by_key) == len(parts)
    shown, key = "", "0"
    while key:
        shown += by_key[key]
        match = re.search(r'data-part="([^"]*more-\d+)">Load ([\d,]+) more steps?<', by_key[key])
        key = match[1] if match else ""
    assert re.findall(r"I act (\d+)\.</p>", shown) == [str(number) for number in range(50)]
    assert "Load 45 more steps" in by_key["0"]


def deep(levels: int) -> Step:
    step = Step("At the bottom.", calls=(ToolCall("c", "Bash", {"command": "x"}, "y\n" * 900),))
    for _ in range(levels):
        call = ToolCall("c1", "Agent", {}, "ok")
        step = (
            Step(calls=(call,), agents=(SubAgent("one", "c1", "t" * 30_000, (step,) * 30),))
            if _ == 0
            else Step(calls=(call,), agents=(SubAgent("one", "c1", "Deeper.", (step,)),))
        )
    return step


def test_names_of_parts_are_short_and_no_two_are_equal_however_deep_agents_start_agents() -> None:
    parts: tuple[Part, ...] = rendered(deep(6)).parts
    keys = [part.key for part in parts]
    assert len(set(keys)) == len(keys)
    assert max(map(len, keys)) <= 60
    assert all(re.fullmatch(r"[-a-zA-Z0-9_]+", key) for key in keys)
    named = set(re.findall(r'data-part="([^"]+)"', "".join(str(part.html) for part in parts)))
    assert named <= set(keys)


def test_names_of_agents_and_their_words_are_escaped() -> None:
    html = first(Step(calls=(CALL,), agents=(SubAgent("<b>x", "c1", "<script>", (Step("<img src=x>"),)),)))
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;b&gt;x" in html


def test_a_refused_call_is_no_error_and_says_who_refused_it() -> None:
    refused = ToolCall("c1", "Bash", {"command": "rm x"}, "The user doesn't want to", refused=True)
    html = first(Step(calls=(refused,)))
    assert "Refused by the user" in html
    assert "Error" not in html


def test_words_behind_the_last_step_stand_behind_it() -> None:
    html = first(Step("Done.", after="Thanks."))
    assert html.index("Done.") < html.index("The user said, after this step") < html.index("Thanks.")


def test_what_a_sub_agent_was_told_was_not_said_by_the_user() -> None:
    inner = Step("Yes.", prompt="Also this.", dividers=("compacted",))
    html = first(Step(calls=(CALL,), agents=(SubAgent("fixer", "c1", "Round.", (inner,)),)))
    assert "The calling agent said, before this step" in html
    assert "The user said" not in html
    assert "Context was compacted here" in html


def test_every_divider_has_a_sentence_and_one_of_a_later_version_is_left_out() -> None:
    shown = shown_dividers("compacted plan_accepted restarted interrupted torn")
    assert len(shown) == 4
    assert shown[1].sentence == "Plan accepted, context cleared"
