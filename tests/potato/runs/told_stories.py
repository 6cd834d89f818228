"""Tells one made-up story of an agent's work in every format that is read: words, tools, files written and changed."""

import json
import os
import random
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.potato.runs.converters import test_aider as aider
from tests.potato.runs.converters import test_atif as atif
from tests.potato.runs.converters import test_gemini_cli as gemini
from tests.potato.runs.converters import test_inspect as inspect
from tests.potato.runs.converters import test_langfuse as langfuse
from tests.potato.runs.converters import test_mini_swe_agent as mini
from tests.potato.runs.converters import test_openhands as hands
from tests.potato.runs.converters import test_otel_genai as otel
from tests.potato.runs.converters import test_swe_agent as swe
from tests.potato.runs.converters import test_webarena as webarena
from tests.potato.runs.converters.test_codex import RolloutFile
from tests.potato.runs.converters.test_openai_messages import call as openai_call
from tests.potato.runs.reading import jsonl
from tests.potato.runs.sessions import FOLDER, SessionFile, calls, edited, says
from tests.potato.runs.web_runs import SYSTEM, acted, as_json, asked, observed, omitted

WRITE, EDIT, RUN = "write", "edit", "run"
APART = 10
"""So many lines lie between two changes of a file."""


@dataclass(frozen=True)
class Act:
    """A call: a new file with its text, a line of a file replaced, or a command. `line` is where it stood. `fails`: the
    tool did not find that line, and nothing was changed."""

    id: str
    kind: str
    path: str = ""
    old: str = ""
    new: str = ""
    line: int = 0
    fails: bool = False


@dataclass(frozen=True)
class Turn:
    """What the agent said and did; `prompt` is what the person said before."""

    words: str
    acts: tuple[Act, ...]
    prompt: str = ""


@dataclass(frozen=True)
class Story:
    """A task and the turns that followed it."""

    task: str
    turns: tuple[Turn, ...]

    @property
    def acts(self) -> list[Act]:
        return [act for turn in self.turns for act in turn.acts]

    @property
    def done(self) -> list[Act]:
        """Those that changed a file."""
        return [act for act in self.acts if act.path and not act.fails]

    def changes(self) -> dict[str, tuple[int, int]]:
        """Added and removed lines by file."""
        return {path: self._change(path) for path in dict.fromkeys(act.path for act in self.done)}

    def _change(self, path: str) -> tuple[int, int]:
        acts = [act for act in self.done if act.path == path]
        if acts[0].kind == WRITE:
            return self.text(path).count("\n"), 0
        return sum(act.new.count("\n") for act in acts), len(acts)

    def text(self, path: str, until: Act | None = None) -> str:
        """The file at the end, or before the act `until`: a file that was there has its changed lines far apart."""
        acts = [act for act in self.done if act.path == path]
        text = ""
        if acts[0].kind == EDIT:
            known = {act.line: act.old for act in acts}
            lines = range(1, APART * (len(acts) + 1))
            text = "".join(known.get(number, f"{path} line {number}\n") for number in lines)
        for act in acts:
            if act is until:
                break
            text = act.new if act.kind == WRITE else text.replace(act.old, act.new)
        return text

    def patch(self) -> str:
        """The whole change as git tells it."""
        parts = []
        for path in self.changes():
            acts = [act for act in self.done if act.path == path]
            head = f"diff --git a/{path} b/{path}\n"
            if acts[0].kind == WRITE:
                lines = self.text(path).splitlines(keepends=True)
                hunks = f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}" for line in lines)
                parts.append(f"{head}new file mode 100644\n--- /dev/null\n+++ b/{path}\n{hunks}")
                continue
            hunks, shift = "", 0
            for act in sorted(acts, key=lambda one: one.line):
                lines = act.new.splitlines(keepends=True)
                hunks += f"@@ -{act.line} +{act.line + shift},{len(lines)} @@\n-{act.old}"
                hunks += "".join(f"+{line}" for line in lines)
                shift += len(lines) - 1
            parts.append(f"{head}--- a/{path}\n+++ b/{path}\n{hunks}")
        return "".join(parts)


def story(seed: int, *, one_act: bool = False, fails: bool = False) -> Story:
    """A story by its number, which begins with a new file. `one_act`: each turn has one call, as in formats that know
    no other. `fails`: some edits fail."""
    dice = random.Random(seed)  # noqa: S311
    turns: list[Turn] = []
    written: dict[str, int] = {}
    edits: dict[str, int] = {}
    count = 0
    for number in range(1, dice.randint(3, 9)):
        acts = []
        for _ in range(1 if one_act or not count else dice.choice((0, 1, 1, 2, 3))):
            count += 1
            key = f"call-{count}"
            kind = dice.choice((WRITE, EDIT, EDIT, RUN)) if count > 1 else WRITE
            if kind == WRITE:
                path = f"src/new_{count}.py"
                written[path] = dice.randint(1, 6)
                text = "".join(f"{path} = {line}\n" for line in range(written[path]))
                acts.append(Act(key, WRITE, path, new=text))
            elif kind == EDIT and written and dice.random() < 0.4:
                path = dice.choice(sorted(written))
                line = dice.randrange(written[path])
                old = f"{path} = {line}\n"
                if not any(act.old == old for turn in turns for act in turn.acts) and not any(
                    a.old == old for a in acts
                ):
                    acts.append(Act(key, EDIT, path, old, f"{path} = {line} again {count}\n"))
            elif kind == EDIT and fails and dice.random() < 0.6:
                path = dice.choice(("src/old_a.py", *written))
                acts.append(Act(key, EDIT, path, f"nowhere {count}\n", f"never {count}\n", fails=True))
            elif kind == EDIT:
                path = dice.choice(("src/old_a.py", "src/old_b.py"))
                edits[path] = edits.get(path, 0) + 1
                new = "".join(f"value {count} of {line}\n" for line in range(dice.randint(1, 3)))
                acts.append(Act(key, EDIT, path, f"before {count}\n", new, APART * edits[path]))
            else:
                acts.append(Act(key, RUN, new=f"pytest -k part{count}"))
        if one_act and not acts:
            acts = [Act(f"call-{count}", RUN, new=f"pytest -k part{count}")]
        # Who only spoke waits for the person's next words.
        is_asked = bool(turns) and (not turns[-1].acts or dice.random() < 0.3)
        prompt = f"Now part {number}." if is_asked else ""
        turns.append(Turn(f"I do part {number}.", tuple(acts), prompt))
    return Story(f"Mend the {dice.choice(('totals', 'dates', 'names'))} of run {seed}.", tuple(turns))


# What the tools of several agents are called and given


def editor(act: Act) -> tuple[str, dict[str, str]]:
    """The call as agents with Anthropic's text editor and a shell make it."""
    if act.kind == WRITE:
        return "str_replace_editor", {"command": "create", "path": f"/work/{act.path}", "file_text": act.new}
    if act.kind == EDIT:
        return "str_replace_editor", {
            "command": "str_replace", "path": f"/work/{act.path}", "old_str": act.old, "new_str": act.new,
        }  # fmt: skip
    return "bash", {"command": act.new}


def answer(act: Act) -> str:
    if act.fails:
        return f"ERROR:\nNo replacement was performed, old_str `{act.old}` did not appear verbatim in /work/{act.path}."
    if act.kind == WRITE:
        return f"File created successfully at: /work/{act.path}"
    return f"The file /work/{act.path} has been edited." if act.kind == EDIT else "1 passed"


def claude(act: Act, folder: str = FOLDER) -> tuple[str, dict[str, str]]:
    """The call as Claude Code makes it."""
    if act.kind == WRITE:
        return "Write", {"file_path": f"{folder}/{act.path}", "content": act.new}
    if act.kind == EDIT:
        return "Edit", {"file_path": f"{folder}/{act.path}", "old_string": act.old, "new_string": act.new}
    return "Bash", {"command": act.new}


# The formats


def told_as_claude_code(told: Story) -> tuple[str, bytes]:
    session = SessionFile()
    session.line("file-history-snapshot", messageId="m", snapshot={})
    session.user(told.task)
    session.user("<local-command-stdout>ok</local-command-stdout>", isMeta=True)
    for number, turn in enumerate(told.turns):
        if turn.prompt:
            session.user(turn.prompt)
        session.agent(says(turn.words), message_id=f"m{number}")
        for act in turn.acts:
            tool, given = claude(act)
            session.agent(calls(act.id, tool, **given), message_id=f"m{number}")
        for act in turn.acts:
            outcome: Any = {"stdout": "1 passed", "stderr": ""}
            if act.kind == WRITE:
                outcome = {"type": "create", "filePath": f"{FOLDER}/{act.path}", "content": act.new}
            elif act.kind == EDIT and not act.fails:
                outcome = edited(f"{FOLDER}/{act.path}", act.old, act.new, told.text(act.path, act))
            outcome = f"Error: {answer(act)}" if act.fails else outcome
            session.result(act.id, answer(act), outcome, is_error=act.fails)
    session.line("system", subtype="turn_duration", content="1 s")
    return "session.jsonl", session.bytes()


def told_as_atif(told: Story) -> tuple[str, bytes]:
    steps = [atif.step(1, "system", "You are an agent."), atif.step(2, "user", told.task)]
    for turn in told.turns:
        if turn.prompt:
            steps.append(atif.step(len(steps) + 1, "user", turn.prompt))
        more: dict[str, Any] = {}
        if turn.acts:
            more["tool_calls"] = [
                atif.call(act.id, tool, **given) for act in turn.acts for tool, given in [claude(act)]
            ]
            more["observation"] = atif.results(
                *({"source_call_id": act.id, "content": answer(act)} for act in turn.acts)
            )
        steps.append(atif.step(len(steps) + 1, "agent", turn.words, **more))
    return "trajectory.json", atif.document(atif.trajectory(*steps))


def told_as_codex(told: Story) -> tuple[str, bytes]:
    file = RolloutFile().user("<environment_context>\n<cwd>/work/shop</cwd></environment_context>").user(told.task)
    for turn in told.turns:
        if turn.prompt:
            file.user(turn.prompt)
        file.item("reasoning", summary=[], encrypted_content="g==")
        file.agent(turn.words)
        for act in turn.acts:
            if act.kind == RUN:
                file.call(act.id, "shell_command", command=act.new)
            else:
                lines = "".join(f"+{line}" for line in act.new.splitlines(keepends=True))
                what = (
                    f"*** Add File: {act.path}\n"
                    if act.kind == WRITE
                    else f"*** Update File: {act.path}\n@@\n-{act.old}"
                )
                file.custom(act.id, "apply_patch", f"*** Begin Patch\n{what}{lines}*** End Patch")
        for act in turn.acts:
            is_patch = act.kind != RUN
            told_back = {
                "output": "Failed to find it." if act.fails else "Success.",
                "metadata": {"exit_code": int(act.fails)},
            }
            words = json.dumps(told_back) if is_patch else "1 passed"
            file.output(act.id, words, "custom_tool_call_output" if is_patch else "function_call_output")
    return "rollout.jsonl", file.data


def told_as_inspect(told: Story) -> tuple[str, bytes]:
    messages: list[Any] = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": told.task}]
    for number, turn in enumerate(told.turns):
        if turn.prompt:
            messages.append({"role": "user", "content": turn.prompt})
        called = []
        for act in turn.acts:
            tool, given = editor(act)
            named = ("bash", {"cmd": act.new}) if tool == "bash" else ("text_editor", given)
            called.append((act.id, *named))
        messages.append(inspect.assistant(number, turn.words, *called))
        for act in turn.acts:
            error = {"type": "unknown", "message": answer(act)} if act.fails else None
            messages.append(inspect.tool(act.id, "" if act.fails else answer(act), error))
    sample = {
        "id": "s",
        "epoch": 1,
        "input": told.task,
        "messages": messages,
        "events": [],
        "scores": {"m": {"value": 1}},
    }
    return "log.json", inspect.log(sample)


def told_as_mini_swe_agent(told: Story) -> tuple[str, bytes]:
    messages = [*mini.FIRST]
    for turn in told.turns:
        for act in turn.acts:
            messages += [mini.acts(f"python act.py {act.id}", turn.words), mini.answered("ok\n")]
    messages[-1] = {"role": "user", "content": told.patch()}
    value = mini.trajectory(messages)
    value["info"]["submission"] = told.patch()
    return "a__b-1.traj.json", mini.as_file(value)


def told_as_openhands(told: Story) -> tuple[str, bytes]:
    events: list[Any] = [{**hands.TASK, "message": told.task, "args": {"content": told.task}}]
    for number, turn in enumerate(told.turns):
        if turn.prompt:
            event = {"id": len(events), "timestamp": "2025-01-01T10:00:00", "source": "user", "message": turn.prompt}
            events.append({**event, "action": "message", "args": {"content": turn.prompt}})
        if not turn.acts:
            events.append(hands.v0_action(len(events), "message", content=turn.words))
        made = []
        for act in turn.acts:
            tool, given = editor(act)
            kind = "run" if act.kind == RUN else "edit"
            made.append((act, len(events)))
            called = (tool, act.id, given)
            thought = turn.words if act is turn.acts[0] else ""
            events.append(hands.v0_action(len(events), kind, response=f"r{number}", tool=called, thought=thought))
        for act, cause in made:
            if act.kind == RUN:
                events.append(hands.v0_observation(len(events), cause, "run", "1 passed", metadata={"exit_code": 0}))
                continue
            if act.fails:
                events.append(hands.v0_observation(len(events), cause, "error", answer(act)))
                continue
            before = told.text(act.path, act)
            after = act.new if act.kind == WRITE else before.replace(act.old, act.new)
            files = {"prev_exist": act.kind == EDIT, "old_content": before, "new_content": after}
            events.append(
                hands.v0_observation(len(events), cause, "edit", answer(act), path=f"/workspace/{act.path}", **files)
            )
    return "trajectory.json", json.dumps(events).encode()


def told_as_openhands_v1(told: Story) -> tuple[str, bytes]:
    """A conversation of version 1, as a list of its events."""
    said = hands.text_of(told.task)
    events: list[Any] = [
        hands.v1(0, "SystemPromptEvent", source="agent"),
        hands.v1(1, "MessageEvent", source="user", llm_message={"role": "user", "content": said}),
    ]
    for number, turn in enumerate(told.turns):
        if turn.prompt:
            message = {"role": "user", "content": hands.text_of(turn.prompt)}
            events.append(hands.v1(len(events), "MessageEvent", source="user", llm_message=message))
        if not turn.acts:
            message = {"role": "assistant", "content": hands.text_of(turn.words)}
            events.append(hands.v1(len(events), "MessageEvent", source="agent", llm_message=message))
        made = []
        for act in turn.acts:
            tool, given = editor(act)
            made.append((act, len(events)))
            words = turn.words if act is turn.acts[0] else ""
            events.append(hands.v1_action(len(events), tool, given, f"r{number}", thought=words))
        for act, call in made:
            shown: dict[str, Any] = {"content": hands.text_of(answer(act)), "is_error": act.fails}
            if act.kind == RUN:
                shown["exit_code"] = 0
            elif not act.fails:
                before = told.text(act.path, act)
                after = act.new if act.kind == WRITE else before.replace(act.old, act.new)
                shown |= {"path": f"/work/{act.path}", "prev_exist": act.kind == EDIT}
                shown |= {"old_content": before, "new_content": after}
            events.append(hands.v1_observation(len(events), call, **shown))
    return "events.json", json.dumps(events).encode()


def told_as_react(told: Story) -> tuple[str, bytes]:
    text = f"{told.task}\n"
    for number, turn in enumerate(told.turns, 1):
        is_last = turn is told.turns[-1]
        action, observation = ("Finish", "Episode finished, reward = 1") if is_last else ("Search", "found")
        text += f"Thought {number}: {turn.words}\nAction {number}: {action}[{number}]\n"
        text += f"Observation {number}: {observation}\n"
    return "runs.txt", f"{text}{{'steps': {len(told.turns)}, 'answer': 'x', 'reward': 1}}\n\n1 1 1.0 4.5\n".encode()


def told_as_swe_agent(told: Story) -> tuple[str, bytes]:
    steps = [swe.step(f"python act.py {act.id}\n", "ok\n", turn.words) for turn in told.turns for act in turn.acts]
    steps[-1]["observation"] = told.patch()
    return "a__b-1.traj", swe.as_file(
        swe.trajectory(steps, info={"submission": told.patch(), "exit_status": "submitted"})
    )


def told_as_swebench(told: Story) -> tuple[str, bytes]:
    about = {"instance_id": "a__b-1", "model_name_or_path": "m", "model_patch": told.patch()}
    return "preds.json", json.dumps({"a__b-1": about}, indent=1).encode()


def told_as_webvoyager(told: Story) -> tuple[str, bytes]:
    messages: list[Any] = [SYSTEM, asked(told.task)]
    for number, turn in enumerate(told.turns):
        messages += [acted(turn.words, f"Click [{number}]"), omitted() if number % 2 else observed()]
    return "interact_messages.json", as_json(messages)


def told_as_native(told: Story) -> tuple[str, bytes]:
    steps = []
    events = []
    for number, turn in enumerate(told.turns):
        called = [
            {"id": act.id, "name": tool, "arguments": given, "result": answer(act)}
            for act in turn.acts
            for tool, given in [editor(act)]
        ]
        steps.append({"message": turn.words, "prompt": turn.prompt, "tool_calls": called})
        for act in turn.acts:
            if act.kind == WRITE:
                events.append({"kind": "write", "step": number, "path": act.path, "text": act.new, "created": True})
            elif act.kind == EDIT:
                events.append({"kind": "edit", "step": number, "path": act.path, "old": act.old, "new": act.new})
    return "runs.jsonl", jsonl(
        {"id": "one", "task_description": told.task, "steps": steps, "file_events": events, "mood": "good"}
    )


def chat_of(told: Story) -> list[Any]:
    """Messages of OpenAI's form."""
    messages: list[Any] = [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": told.task}]
    for turn in told.turns:
        if turn.prompt:
            messages.append({"role": "user", "content": turn.prompt})
        called = [openai_call(act.id, *editor(act)) for act in turn.acts]
        messages.append({"role": "assistant", "content": turn.words, **({"tool_calls": called} if called else {})})
        messages += [{"role": "tool", "tool_call_id": act.id, "content": answer(act)} for act in turn.acts]
    return messages


def told_as_openai(told: Story) -> tuple[str, bytes]:
    return "chat.jsonl", jsonl({"id": "one", "messages": chat_of(told)})


def told_as_dataset_rows(told: Story) -> tuple[str, bytes]:
    row = {"instance_id": "a__b-1", "trajectory_id": "t", "resolved": 1, "exit_status": "submit", "tools": []}
    return "rows.jsonl", jsonl({**row, "trajectory": chat_of(told), "model_patch": told.patch()})


def told_as_gemini_cli(told: Story) -> tuple[str, bytes]:
    messages = [gemini.message(1, "info", "Update available."), gemini.message(2, "user", told.task)]
    for turn in told.turns:
        if turn.prompt:
            messages.append(gemini.message(len(messages), "user", turn.prompt))
        called = []
        for act in turn.acts:
            tool, given = claude(act, "/work")
            name = {"Write": "write_file", "Edit": "replace", "Bash": "run_shell_command"}[tool]
            came = ({"error": answer(act)}, "error") if act.fails else ({"output": "done"}, "success")
            called.append(gemini.tool_call(act.id, name, *came, args=given))
        messages.append(gemini.message(len(messages), "gemini", turn.words, model="g", toolCalls=called))
    return "session.json", gemini.chat(*messages)


def told_as_otel_genai(told: Story) -> tuple[str, bytes]:
    said = [otel.said("system", otel.words("You are an agent.")), otel.said("user", otel.words(told.task))]
    spans: list[Any] = [{**otel.span(90, ""), "name": "GET /health"}]
    for turn in told.turns:
        if turn.prompt:
            said.append(otel.said("user", otel.words(turn.prompt)))
        called = [otel.tool_call(act.id, tool, **given) for act in turn.acts for tool, given in [editor(act)]]
        output = otel.said("assistant", otel.words(turn.words), *called)
        spans.append(otel.chat(len(spans), list(said), [output]))
        said.append(output)
        for act in turn.acts:
            tool, _ = editor(act)
            more: dict[str, Any] = {"gen_ai__tool__name": tool, "gen_ai__tool__call__id": act.id}
            more["gen_ai__tool__call__result"] = answer(act)
            spans.append(otel.span(len(spans), "execute_tool", failed=act.fails, **more))
            said.append(otel.said("tool", {"type": "tool_call_response", "id": act.id, "response": answer(act)}))
    return "traces.json", otel.document(*spans)


def told_as_langfuse(told: Story) -> tuple[str, bytes]:
    messages: list[Any] = []
    observations = [langfuse.observation(0, "SPAN", name="retry")]
    for message in chat_of(told):
        if message["role"] == "assistant":
            more = {"input": list(messages), "output": message, "model": "m"}
            observations.append(langfuse.observation(len(observations), "GENERATION", **more))
        messages.append(message)
        if message["role"] == "tool":
            more = {"input": {}, "output": message["content"], "metadata": {"tool_call_id": message["tool_call_id"]}}
            more["level"] = "ERROR" if message["content"].startswith("ERROR") else "DEFAULT"
            observations.append(langfuse.observation(len(observations), "TOOL", **more))
    return "trace.json", langfuse.trace(observations=observations)


def told_as_aider(told: Story) -> tuple[str, bytes]:
    parts = [aider.asks(told.task)]
    for number, turn in enumerate(told.turns):
        if number:
            parts.append(aider.asks(turn.prompt or "Go on."))
        blocks = [aider.block(act.path, act.old, act.new) for act in turn.acts if act.kind != RUN]
        parts.append(f"\n{turn.words}\n\n" + "\n".join(blocks))
        noted = ["Tokens: 2.1k sent, 300 received."]
        for act in turn.acts:
            if act.kind == WRITE:
                noted.append(f"Allow creation of new file {act.path}? (Y)es/(N)o [Yes]: y")
            noted.append(f"Commit {act.id[-1]}abc123 {act.new}" if act.kind == RUN else f"Applied edit to {act.path}")
        parts.append(aider.notes(*noted))
    return aider.NAME, aider.session(*parts).encode()


def told_as_webarena(told: Story) -> tuple[str, bytes]:
    pages = [
        webarena.page(f"http://shop.example/{number}", f"{turn.words} ```click [{number}]```", f"click [{number}]")
        for number, turn in enumerate(told.turns)
    ]
    return webarena.NAME, webarena.rendered(*pages)


def told_as_patch(told: Story) -> tuple[str, bytes]:
    about = f"From {'a' * 40} Mon Sep 17 00:00:00 2001\nFrom: Ada <ada@example.com>\nSubject: [PATCH] {told.task}\n"
    return "fix.patch", f"{about}\n---\n{told.patch()}-- \n2.40.0\n".encode()


def told_as_pull_request(told: Story) -> tuple[str, bytes]:
    commits = [
        {"sha": f"c{number}", "commit": {"message": turn.words, "author": {"date": "2026-03-01T09:00:00Z"}}}
        for number, turn in enumerate(told.turns)
    ]
    files = [
        {
            "filename": path,
            "status": "modified" if "old" in path else "added",
            "additions": counts[0],
            "deletions": counts[1],
            "patch": part[part.index("@@ ") :].removesuffix("\n"),
        }
        for (path, counts), part in zip(told.changes().items(), told.patch().split("diff --git ")[1:], strict=True)
    ]
    about = {"number": 7, "title": told.task, "html_url": "https://github.com/a/b/pull/7", "merged": True}
    base = {"sha": "b" * 40, "repo": {"full_name": "a/b"}}
    return "pr.json", json.dumps({**about, "base": base, "commits": commits, "files": files}).encode()


def told_as_git_bundle(told: Story) -> tuple[str, bytes]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def git(*words: str) -> None:
            subprocess.run(["git", *identity, *words], cwd=folder, env=environment, check=True, capture_output=True)

        def commit(message: str) -> None:
            git("add", "--all")
            git("commit", "--quiet", "--allow-empty", "--message", message)

        (folder / "src").mkdir()
        git("init", "--quiet")
        for path in told.changes():
            if "old" in path:
                (folder / path).write_text(told.text(path, next(act for act in told.acts if act.path == path)))
        commit("Base")
        git("switch", "--quiet", "--create", "agent")
        for turn in told.turns:
            for act in turn.acts:
                if act.path:
                    before = told.text(act.path, act)
                    (folder / act.path).write_text(act.new if act.kind == WRITE else before.replace(act.old, act.new))
            commit(turn.words)
        git("bundle", "create", "--quiet", "run.bundle", "main", "agent")
        return "run.bundle", (folder / "run.bundle").read_bytes()


CAN_FAIL = frozenset(
    {"claude_code", "codex", "dataset_rows", "gemini_cli", "inspect", "langfuse", "openai", "openhands", "otel_genai"}
)
"""Formats that say that a call failed."""
ONE_ACT = frozenset({"mini_swe_agent", "swe_agent", "react", "webarena", "webvoyager"})
"""Formats in which a step is one act."""
TOLD_AS: dict[str, Callable[[Story], tuple[str, bytes]]] = {
    each.__name__.removeprefix("told_as_"): each
    for each in (
        told_as_aider, told_as_atif, told_as_claude_code, told_as_codex, told_as_dataset_rows, told_as_gemini_cli,
        told_as_git_bundle, told_as_inspect, told_as_langfuse, told_as_mini_swe_agent, told_as_native, told_as_openai,
        told_as_openhands, told_as_otel_genai, told_as_patch, told_as_pull_request, told_as_react, told_as_swe_agent,
        told_as_swebench, told_as_webarena, told_as_webvoyager,
    )
}  # fmt: skip
"""By the format; a second form of a format has a word behind its name."""
TOLD_AS["openhands v1"] = told_as_openhands_v1
