"""Counts what real files hold by a plain reading of their JSON and text, without a line of the converters.

Each format has its own short rule here; where a rule needs a reason it stands beside it. Changes are counted in the
plainest way that is right for them: the marked lines of a stated patch, else the pairs of old and new text of the
agent's edits, each edit of a text that an earlier one wrote being put into it.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

Record = dict[str, Any]
Pairs = dict[str, list[tuple[str, str]]]


@dataclass
class Counts:
    """The columns of the table of what is read."""

    runs: int = 0
    steps: int = 0
    calls: int = 0
    files: int = 0
    added: int = 0
    removed: int = 0
    dropped: int = 0
    unknown: int = 0
    repairs: int = 0

    def __iadd__(self, other: "Counts") -> "Counts":
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        return self

    def change(self, files: Iterable[tuple[int, int]]) -> None:
        """Count changed files with their added and removed lines."""
        for added, removed in files:
            self.files += 1
            self.added += added
            self.removed += removed


def lines_of(data: bytes) -> list[Any]:
    """The values of JSON lines; what is no JSON is left out."""
    return [json.loads(line) for line in data.decode().splitlines() if line.strip()]


def of_patch(patch: str) -> Iterator[tuple[int, int]]:
    """Added and removed lines of each file of a git patch, by their marks."""
    for part in re.split(r"^diff --git ", patch.replace("\r\n", "\n"), flags=re.MULTILINE)[1:]:
        body = part.partition("\n@@")[2].split("\n")
        marks = Counter(line[:1] for line in body)
        yield marks["+"], marks["-"]


def of_difference(old: str, new: str) -> tuple[int, int]:
    """How many lines must be added and removed at least: all but a longest common subsequence."""
    before, after = old.splitlines(), new.splitlines()
    for end in (-1, 0):
        while before and after and before[end] == after[end]:
            del before[end], after[end]
    lengths = [0] * (len(after) + 1)
    for line in before:
        row = [0]
        for at, other in enumerate(after, 1):
            row.append(lengths[at - 1] + 1 if line == other else max(lengths[at], row[-1]))
        lengths = row
    return len(after) - lengths[-1], len(before) - lengths[-1]


def edit(pairs: Pairs, path: str, old: str, new: str) -> None:
    """One more edit of a file: within what an earlier one wrote if that holds the text, else beside it."""
    known = pairs.setdefault(path, [])
    for number, (before, after) in enumerate(known):
        if old and old in after:
            known[number] = before, after.replace(old, new, 1)
            return
    known.append((old, new))


def of_pairs(pairs: Pairs) -> Iterator[tuple[int, int]]:
    for known in pairs.values():
        both = [of_difference(old, new) for old, new in known]
        if any(old != new for old, new in known):
            yield sum(added for added, _ in both), sum(removed for _, removed in both)


def take_call(pairs: Pairs, tool: str, given: Record, original: str | None = None) -> int:
    """Put what an answered call wrote among the pairs; 1 for a plan, which is no file of the change.

    Where the file before the call is recorded whole, the pair is the file before the first call and after this one.
    """
    path = str(given.get("file_path"))
    if tool not in ("Edit", "MultiEdit", "Write"):
        return 0
    if "/.claude/plans/" in path:
        return 1
    if tool == "Write":
        pairs[path] = [(original or "", given["content"])]
        return 0
    if original:
        pairs[path] = [(pairs[path][0][0] if path in pairs else original, original)]
    for one in given.get("edits", [given]):
        edit(pairs, path, one["old_string"], one["new_string"])
    return 0


def take_editor(pairs: Pairs, given: Record) -> None:
    """The same for the arguments of Anthropic's text editor; of any other tool nothing."""
    if given.get("command") == "create":
        pairs[given["path"]] = [("", given["file_text"])]
    elif given.get("command") == "str_replace":
        edit(pairs, given["path"], given["old_str"], given["new_str"])


def take_envelope(pairs: Pairs, words: str) -> None:
    """And for an envelope of apply_patch: files that it adds, and hunks of one place each that it changes."""
    for what, path, body in re.findall(r"^\*\*\* (Add|Update) File: (.*)\n((?:[-+ @].*\n)*)", words, re.MULTILINE):
        lines = [line for line in body.splitlines(keepends=True) if not line.startswith("@@")]
        old, new = ("".join(line[1:] for line in lines if line[0] in f" {mark}") for mark in "-+")
        if what == "Add":
            pairs[path] = [("", new)]
        else:
            edit(pairs, path, old, new)


# Claude Code


def claude_code(_: str, data: bytes) -> Counts:
    """Lines of messages, of which those with one message id are one step."""
    try:
        lines = json.loads(data)["loglines"]
    except json.JSONDecodeError:
        lines = [line for line in lines_of(data) if isinstance(line, dict)]
    total = Counts()
    sessions: dict[str, list[Record]] = {}
    for line in lines:
        # A line of no session belongs to the file's first one.
        sessions.setdefault(line.get("sessionId") or next(iter(sessions), ""), []).append(line)
    own = {name: each for name, each in sessions.items() if any(line.get("type") == "assistant" for line in each)}
    rest = [line for name, each in sessions.items() if name not in own for line in each]
    next(iter(own.values())).extend(rest)
    for each in own.values():
        total += _claude_session(each)
    return total


def _claude_session(lines: list[Record]) -> Counts:
    counts = Counts(runs=1)
    steps: list[str] = []
    asked: dict[str, tuple[str, Record]] = {}
    pairs: Pairs = {}
    for number, line in enumerate(lines):
        kind, message = line.get("type"), line.get("message")
        content: Any = message.get("content") if isinstance(message, dict) else None
        if kind == "assistant":
            steps.append(line["message"].get("id") or str(number))
            asked |= {block["id"]: (block["name"], block["input"]) for block in content if block["type"] == "tool_use"}
        elif kind == "user" and content is None:
            counts.unknown += 1
        elif kind == "user":
            counts.dropped += _is_no_prompt(line, content)
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block["type"] == "tool_result" and not block.get("is_error"):
                    outcome = line.get("toolUseResult")
                    known = outcome if isinstance(outcome, dict) else {}
                    original = known.get("originalFile") or known.get("originalFileContents")
                    counts.dropped += take_call(pairs, *asked[block["tool_use_id"]], original)
        elif kind is None:
            counts.unknown += 1
        # What a sub-agent did while a call ran is shown below the call.
        elif kind != "progress" or line["data"]["type"] != "agent_progress":
            counts.dropped += 1
    counts.steps = len(dict.fromkeys(steps))
    counts.calls = len(asked)
    counts.change(of_pairs(pairs))
    counts.repairs = _broken_links(lines)
    return counts


def _is_no_prompt(line: Record, content: Any) -> bool:
    """Whether nobody typed the line: the program's own words, a command without arguments, what a command printed."""
    first = content if isinstance(content, str) else content[0]
    words = first if isinstance(first, str) else str(first.get("text", ""))
    is_command = words.startswith("<command-") and not re.search(r"<command-args>\s*[^<\s]", words)
    is_output = words.startswith(("<local-command-stdout>", "Caveat:"))
    return bool(line.get("isMeta") or line.get("isCompactSummary") or is_command or is_output)


def _broken_links(lines: list[Record]) -> int:
    """1 for a chain of lines whose beginning is elsewhere, or for several lines without a link between them."""
    parents = {line["parentUuid"] for line in lines if "parentUuid" in line}
    known = {line.get("uuid") for line in lines} | {None}
    is_unlinked = parents == {None} and sum("parentUuid" in line for line in lines) > 1
    return is_unlinked or not parents <= known


# ATIF


def atif(_: str, data: bytes) -> Counts:
    """Steps of the agent. A later step that repeats a call alone says nothing new."""
    document = json.loads(data)
    if "steps" not in document:
        return Counts()
    counts = Counts(runs=1)
    pairs: Pairs = {}
    seen: set[str] = set()
    for step in document["steps"]:
        if step["source"] == "system":
            counts.dropped += 1
        if step["source"] != "agent":
            continue
        calls = step.get("tool_calls", [])
        again = [call for call in calls if call["tool_call_id"] in seen]
        counts.repairs += 2 * len(again)  # The call and its result.
        if again and len(again) == len(calls) and not step["message"]:
            counts.dropped += 1
            continue
        counts.steps += 1
        counts.calls += len(calls) - len(again)
        for call in calls:
            seen.add(call["tool_call_id"])
            take_call(pairs, call["function_name"], call["arguments"])
    counts.change(of_pairs(pairs))
    return counts


# Codex


def codex(_: str, data: bytes) -> Counts:
    """Answers of the model are steps: its words and the calls behind them, up to the next words or results."""
    counts = Counts(runs=1)
    asked: set[str] = set()
    answered: set[str] = set()
    threads: set[str] = set()
    paths: set[str] = set()
    pairs: Pairs = {}
    envelopes: dict[str, str] = {}
    lines = lines_of(data)
    is_new = True  # Whether what comes next begins a step.
    for line in lines:
        payload = line.get("payload", line)
        kind = payload.get("type", "") if line.get("type") in ("response_item", "event_msg") else line.get("type", "")
        if payload.get("role"):
            kind = f"message of {payload['role']}"
        if kind == "session_meta":
            counts.dropped += bool(threads)
            threads.add(payload["id"])
        elif kind == "message of user":
            counts.dropped += "<environment_context>" in str(payload.get("content", payload.get("message")))
            is_new = True
        elif kind == "message of assistant":
            counts.steps += is_new
            is_new = False
        elif kind == "reasoning":
            counts.dropped += not payload["summary"]
        elif kind.endswith("_call") and kind != "view_image_tool_call":
            name = payload.get("call_id") or payload.get("id") or str(len(asked))
            if name in asked:
                counts.repairs += 1
                # Nothing is left of an answer that only calls again.
                counts.dropped += is_new
            else:
                counts.calls += 1
                counts.steps += is_new
            is_new = False
            asked.add(name)
            if kind == "image_generation_call" or (kind == "web_search_call" and payload.get("status")):
                # They ran where the model runs, and say themselves what came of it.
                counts.repairs += name in answered
                answered.add(name)
            if payload.get("name") == "apply_patch":
                envelopes[name] = payload.get("input", "")
        elif kind.endswith(("_call_output", "tool_search_output", "_result")):
            is_new = True
            counts.repairs += payload.get("call_id") not in asked and "call_id" in payload
            counts.repairs += payload.get("call_id") in answered
            if envelope := envelopes.pop(str(payload.get("call_id")), ""):
                has_failed = '"exit_code": 1' in payload["output"]
                take_envelope(pairs, "" if has_failed else envelope)
            answered.add(payload.get("call_id"))
        elif kind == "compacted":
            is_new = True
        elif kind in ("turn_context", "token_count", "turn_aborted"):
            pass
        elif kind == "patch_apply_end":
            # A call of a program that the agent ran: the rollout has no other line of it.
            counts.calls += payload["call_id"] not in asked
            asked.add(payload["call_id"])
            paths |= payload["changes"].keys()
        elif kind == "mcp_tool_call_end" and payload["call_id"] not in asked:
            counts.calls += 1
            asked.add(payload["call_id"])
            answered.add(payload["call_id"])
        elif kind == "item_completed" and payload["item"]["type"] == "FileChange":
            paths |= payload["item"]["changes"].keys()
        else:
            counts.dropped += 1
    if not counts.steps:
        return Counts()
    counts.change(of_pairs(pairs))
    # Of others the rollout has the names alone.
    counts.files += len(paths - pairs.keys())
    return counts


# Inspect


def inspect(_: str, data: bytes) -> Counts:
    """Messages of the assistant in each sample."""
    counts = Counts()
    document = json.loads(data)
    for sample in document.get("samples", [document] if "messages" in document else []):
        roles = Counter(message["role"] for message in sample["messages"])
        if roles["assistant"]:
            counts.runs += 1
        counts.steps += roles["assistant"]
        pairs: Pairs = {}
        failed = {message["tool_call_id"] for message in sample["messages"] if message.get("error")}
        for message in sample["messages"]:
            for call in message.get("tool_calls") or []:
                counts.calls += 1
                if call["id"] not in failed:
                    take_editor(pairs, call["arguments"])
        counts.change(of_pairs(pairs))
        counts.dropped += roles["system"] + bool(sample.get("scores"))
    return counts


# mini-swe-agent and SWE-agent


def mini_swe_agent(_: str, data: bytes) -> Counts:
    """Messages of the agent, each with one block of bash or without one."""
    document = json.loads(data)
    messages = document["messages"] if isinstance(document, dict) else document
    agents = [message for message in messages if message["role"] == "assistant"]
    counts = Counts(runs=1, steps=len(agents))
    counts.calls = sum(
        len(re.findall(r"^```\w*bash\w*\n", message["content"], re.MULTILINE)) == 1 for message in agents
    )
    counts.dropped = sum(message["role"] == "system" for message in messages)
    # The answer of the model as it came, of which the message is a copy.
    counts.dropped += sum("response" in message.get("extra", {}) for message in agents)
    info = document.get("info", {}) if isinstance(document, dict) else {}
    counts.change(of_patch(info.get("submission", messages[-1]["content"])))
    return counts


def swe_agent(_: str, data: bytes) -> Counts:
    """Entries of the trajectory, each an action. Without a patch its window and its shell wrote the files."""
    document = json.loads(data)
    steps = document["trajectory"]
    counts = Counts(runs=1, steps=len(steps), calls=len(steps))
    counts.dropped = sum(bool(message.get("is_demo")) for message in document["history"])
    submission = document["info"]["submission"]
    if submission.lstrip().startswith("diff --git"):
        counts.repairs = "\r\n" in submission
        counts.change(of_patch(submission))
        return counts
    counts.dropped += 1
    written: dict[str, list[str]] = {}
    current = ""
    for step in steps:
        action = step["action"]
        if match := re.match(r"create (\S+)\s*\Z", action):
            current = match[1]
            written[current] = [""]
        elif (match := re.match(r"edit (\d+):(\d+)\n(.*)end_of_edit\s*\Z", action, re.DOTALL)) and current:
            written[current][int(match[1]) - 1 : int(match[2])] = match[3].splitlines()
    counts.change((len(lines), 0) for lines in written.values())
    # A file into which a command printed is changed, and nobody knows by which lines.
    printed = {match[1] for step in steps if (match := re.search(r" > (\S+)\s*\Z", step["action"]))}
    counts.change((0, 0) for _ in printed)
    return counts


# OpenHands


def openhands(name: str, data: bytes) -> Counts:
    """Actions of the agent; those of one answer of the model are one step."""
    if b'"kind"' in data:
        return openhands_v1(json.loads(data))
    counts = Counts()
    rows = lines_of(data) if name.endswith(".jsonl") else [{"history": json.loads(data)}]
    for row in rows:
        counts.runs += 1
        flat = [event for entry in row["history"] for event in (entry if isinstance(entry, list) else [entry])]
        # Without sources, which the oldest events have none of, the first message is the user's.
        acts = [event for event in flat if "action" in event and "observation" not in event]
        acts = [event for event in acts if event.get("source", "agent") == "agent"]
        acts = acts[1:] if "source" not in flat[0] else acts
        responses = [event.get("tool_call_metadata", {}).get("model_response", {}).get("id") for event in acts]
        counts.steps += len({response for response in responses if response}) + responses.count(None)
        counts.calls += sum(event["action"] != "message" for event in acts)
        if "git_patch" in row:
            counts.repairs += "\r\n" in row["git_patch"]
            counts.change(of_patch(row["git_patch"]))
        texts: dict[str, tuple[str, str]] = {}
        for event in flat:
            if event.get("observation") == "edit":
                path, extras = event["extras"]["path"], event["extras"]
                first = texts[path][0] if path in texts else extras["old_content"] or ""
                texts[path] = first, extras["new_content"]
        counts.change(of_difference(old, new) for old, new in texts.values())
    return counts


def openhands_v1(events: list[dict[str, Any]]) -> Counts:
    """A list of events of version 1, none of whose branches was left."""
    counts = Counts(runs=1)
    kinds = Counter(event["kind"] for event in events)
    counts.steps = len({event["llm_response_id"] for event in events if event["kind"] == "ActionEvent"})
    counts.steps += sum(event["kind"] == "MessageEvent" and event["source"] == "agent" for event in events)
    counts.calls = kinds["ActionEvent"]
    counts.dropped = kinds["SystemPromptEvent"]
    texts: dict[str, tuple[str, str]] = {}
    for shown in (event["observation"] for event in events if event["kind"] == "ObservationEvent"):
        if "new_content" in shown:
            path = shown["path"]
            first = texts[path][0] if path in texts else shown["old_content"] or ""
            texts[path] = first, shown["new_content"]
    counts.change(of_difference(old, new) for old, new in texts.values())
    return counts


# Runs as text, pages, predictions


def react(_: str, data: bytes) -> Counts:
    """Printed runs: a claim, thoughts and actions by their numbers, a dictionary of the result, running averages."""
    lines = data.decode().splitlines()
    results = [ast.literal_eval(line.strip()) for line in lines if line.startswith("{'steps'")]
    counts = Counts(runs=len(results))
    counts.steps = sum(bool(re.match(r"Thought \d+:", line)) for line in lines)
    counts.calls = sum(bool(re.match(r"Action \d+:", line)) for line in lines)
    counts.dropped = len(results) + sum(bool(re.fullmatch(r"\d+ \d+ [\d.]+ [\d.]+", line.strip())) for line in lines)
    return counts


def swebench(_: str, data: bytes) -> Counts:
    counts = Counts()
    for prediction in json.loads(data).values():
        counts.runs += 1
        counts.change(of_patch(prediction["model_patch"]))
    return counts


def webvoyager(_: str, data: bytes) -> Counts:
    """Messages of the agent, each with an action."""
    messages = json.loads(data)
    agents = [message["content"] for message in messages if message["role"] == "assistant"]
    counts = Counts(runs=1, steps=len(agents), calls=sum("Action:" in words for words in agents))
    counts.dropped = sum(message["role"] == "system" for message in messages)
    counts.dropped += data.decode().count("(Omitted in context.)")
    return counts


BY_FORMAT: dict[str, Callable[[str, bytes], Counts]] = {
    each.__name__: each
    for each in (
        atif, claude_code, codex, inspect, mini_swe_agent, openhands, react, swe_agent, swebench, webvoyager
    )
}  # fmt: skip
