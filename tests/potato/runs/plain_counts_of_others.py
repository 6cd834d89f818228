"""Plain counts of the formats of which no public file lies with the real ones; as in `plain_counts`, no converter."""

import json
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.potato.runs.plain_counts import Counts, Pairs, Record, edit, lines_of, of_pairs, of_patch, take_editor


def native(_: str, data: bytes) -> Counts:
    """Potato's own format: steps with tool_calls; a patch is the change, else the events of files are."""
    counts = Counts()
    known = {"id", "task_description", "steps", "file_events", "patch"}
    for record in lines_of(data):
        counts.runs += 1
        counts.steps += len(record["steps"])
        counts.calls += sum(len(step.get("tool_calls", [])) for step in record["steps"])
        counts.unknown += len(record.keys() - known)
        pairs: Pairs = {}
        for event in record.get("file_events", []):
            if event["kind"] == "write":
                pairs[event["path"]] = [("", event["text"])]
            elif event["kind"] == "edit":
                edit(pairs, event["path"], event["old"], event["new"])
        counts.change(of_patch(record["patch"]) if "patch" in record else of_pairs(pairs))
    return counts


def _chat(messages: list[Record], counts: Counts) -> Pairs:
    """Messages of OpenAI's form: what the editor wrote counts where an answer of a tool names its call."""
    asked: dict[str, Record] = {}
    pairs: Pairs = {}
    for message in messages:
        counts.steps += message["role"] == "assistant"
        counts.dropped += message["role"] == "system"
        for call in message.get("tool_calls", []):
            asked[call["id"]] = json.loads(call["function"]["arguments"])
        if message["role"] == "tool" and not message["content"].startswith("ERROR"):
            take_editor(pairs, asked[message["tool_call_id"]])
    counts.calls += len(asked)
    return pairs


def openai(_: str, data: bytes) -> Counts:
    counts = Counts()
    for record in lines_of(data):
        counts.runs += 1
        counts.change(of_pairs(_chat(record["messages"], counts)))
    return counts


def dataset_rows(_: str, data: bytes) -> Counts:
    """Rows whose patch is the change. Columns of what became of the tests, and the list of tools, are left out."""
    counts = Counts()
    for row in lines_of(data):
        counts.runs += 1
        _chat(row["trajectory"], counts)
        counts.dropped += len(row.keys() & {"resolved", "exit_status", "tools"})
        counts.change(of_patch(row["model_patch"]))
    return counts


def gemini_cli(_: str, data: bytes) -> Counts:
    counts = Counts(runs=1)
    pairs: Pairs = {}
    for message in json.loads(data)["messages"]:
        counts.steps += message["type"] == "gemini"
        counts.dropped += message["type"] == "info"
        for call in message.get("toolCalls", []):
            counts.calls += 1
            given = call["args"]
            if call["status"] == "error":
                continue
            if call["name"] == "write_file":
                pairs[given["file_path"]] = [("", given["content"])]
            elif call["name"] == "replace":
                edit(pairs, given["file_path"], given["old_string"], given["new_string"])
    counts.change(of_pairs(pairs))
    return counts


def otel_genai(_: str, data: bytes) -> Counts:
    """Spans: each request to a model is a step, and what its answer calls are the calls. A system message that every
    request repeats is one; a span of none of both is left out."""
    counts = Counts(runs=1)
    pairs: Pairs = {}
    systems = set()
    (resource,) = json.loads(data)["resourceSpans"]
    all_spans = resource["scopeSpans"][0]["spans"]
    failed = {
        pair["value"]["stringValue"]
        for span in all_spans
        for pair in span["attributes"]
        if pair["key"] == "gen_ai.tool.call.id" and span["status"] == {"code": 2}
    }
    for span in all_spans:
        said = {pair["key"]: pair["value"].get("stringValue") for pair in span["attributes"]}
        operation = said["gen_ai.operation.name"]
        counts.dropped += operation == ""
        if operation != "chat":
            continue
        counts.steps += 1
        for message in json.loads(str(said["gen_ai.input.messages"])):
            if message["role"] == "system":
                systems.add(json.dumps(message))
        for message in json.loads(str(said["gen_ai.output.messages"])):
            for part in message["parts"]:
                if part["type"] == "tool_call":
                    counts.calls += 1
                    take_editor(pairs, {} if part["id"] in failed else part["arguments"])
    counts.dropped += len(systems)
    counts.change(of_pairs(pairs))
    return counts


def langfuse(_: str, data: bytes) -> Counts:
    """Observations: generations are steps; a span is nothing, nor is the system message, said once more each time."""
    counts = Counts(runs=1)
    pairs: Pairs = {}
    systems = set()
    observations = json.loads(data)["observations"]
    failed = {each["metadata"]["tool_call_id"] for each in observations if each["level"] == "ERROR"}
    for observation in observations:
        counts.dropped += observation["type"] == "SPAN"
        if observation["type"] == "GENERATION":
            counts.steps += 1
            systems |= {message["content"] for message in observation["input"] if message["role"] == "system"}
            for call in observation["output"].get("tool_calls", []):
                counts.calls += 1
                take_editor(pairs, {} if call["id"] in failed else json.loads(call["function"]["arguments"]))
    counts.dropped += len(systems)
    counts.change(of_pairs(pairs))
    return counts


def aider(_: str, data: bytes) -> Counts:
    """A chat in Markdown: what stands between the lines of persons and of the program is a reply. Of the program's
    lines a commit is a call; where an edit was applied it says what is known by then."""
    counts = Counts(runs=1)
    text = data.decode()
    pairs: Pairs = {}
    replies = re.split(r"^(?:>|####) .*  \n", text, flags=re.MULTILINE)
    counts.steps = sum(bool(reply.strip()) for reply in replies[1:])
    blocks = re.findall(
        r"^(\S+)\n```\w*\n<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE\n", text, re.MULTILINE | re.DOTALL
    )
    for path, old, new in blocks:
        edit(pairs, path, old, new)
    notes = [line[2:].strip() for line in text.split("\n") if line.startswith("> ")]
    commits = [note for note in notes if note.startswith("Commit ")]
    applied = [note for note in notes if note.startswith("Applied edit to ")]
    counts.calls = len(blocks) + len(commits)
    counts.dropped = len(notes) - len(commits) - len(applied)
    counts.change(of_pairs(pairs))
    return counts


def webarena(_: str, data: bytes) -> Counts:
    """Pages, each with an action in two forms, of which one is left out, as is the task's configuration."""
    pages = data.decode().count("<h2>New Page</h2>")
    actions = len(re.findall(r"<div class='parsed_action'[^>]*><pre>[^<]", data.decode()))
    return Counts(runs=1, steps=pages, calls=actions, dropped=1 + data.decode().count("class='action_object'"))


def patch(_: str, data: bytes) -> Counts:
    counts = Counts(runs=1)
    # The signature of a mail begins with two dashes, and is no line of the change.
    counts.change(of_patch(re.sub(r"^-- \n.*\Z", "", data.decode(), flags=re.MULTILINE | re.DOTALL)))
    return counts


def pull_request(_: str, data: bytes) -> Counts:
    """Commits are the steps. What became of it is left out."""
    value = json.loads(data)
    counts = Counts(runs=1, steps=len(value["commits"]), dropped=len(value.keys() & {"merged", "state", "user"}))
    for file in value["files"]:
        marks = Counter(line[:1] for line in file["patch"].split("\n"))
        counts.change([(marks["+"], marks["-"])])
    return counts


def git_bundle(_: str, data: bytes) -> Counts:
    """What git itself says of the one branch beside main."""
    counts = Counts(runs=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.bundle").write_bytes(data)

        def git(*words: str) -> str:
            done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
            return done.stdout

        git("clone", "--quiet", "--mirror", "a.bundle", "a.git")
        counts.steps = int(git("-C", "a.git", "rev-list", "--first-parent", "--count", "main..agent"))
        for line in git("-C", "a.git", "diff", "--numstat", "main...agent").splitlines():
            added, removed, _ = line.split("\t")
            counts.change([(int(added), int(removed))])
    return counts


OTHERS: dict[str, Callable[[str, bytes], Counts]] = {
    each.__name__: each
    for each in (
        aider, dataset_rows, gemini_cli, git_bundle, langfuse, native, openai, otel_genai, patch, pull_request, webarena
    )
}  # fmt: skip
