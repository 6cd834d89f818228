"""Spans of OpenTelemetry for generative AI: the run behind them, in every form in which messages are recorded."""

import json
import re
from typing import Any

from potato.runs.changes.derive import derive
from potato.runs.converters.reading import read_file
from potato.runs.model import Converted, ReadingOptions, Unreadable
from potato.runs.run_files import source_at
from tests.potato.runs.damaged_files import read_damaged
from tests.potato.runs.reading import jsonl, read, runs, the_one
from tests.shared_data import shared_files

SECOND = 1_000_000_000
BEGIN = 1_767_261_600 * SECOND


def value(member: Any) -> dict[str, Any]:
    """A value as OTLP writes it."""
    if isinstance(member, bool):
        return {"boolValue": member}
    if isinstance(member, int):
        return {"intValue": str(member)}
    if isinstance(member, list):
        return {"arrayValue": {"values": [value(each) for each in member]}}
    if isinstance(member, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": value(each)} for key, each in member.items()]}}
    return {"stringValue": member}


def span(
    number: int, operation: str, parent: int = 0, *, failed: bool = False, events: Any = (), **more: Any
) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": operation, **{key.replace("__", "."): each for key, each in more.items()}}
    return {
        "traceId": "t1", "spanId": f"s{number}", "parentSpanId": f"s{parent}" if parent else "",
        "name": f"{operation} x",
        "startTimeUnixNano": str(BEGIN + number * SECOND), "endTimeUnixNano": str(BEGIN + (number + 1) * SECOND),
        "attributes": [{"key": key, "value": value(each)} for key, each in attributes.items()],
        "events": list(events), "status": {"code": 2} if failed else {},
    }  # fmt: skip


def otlp(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def said(role: str, *parts: Any) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def words(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def tool_call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def chat(number: int, inputs: Any, outputs: Any, parent: int = 0, *, structured: bool = False) -> dict[str, Any]:
    shown = (inputs, outputs) if structured else (json.dumps(inputs), json.dumps(outputs))
    return span(number, "chat", parent, gen_ai__request__model="gpt-x", gen_ai__input__messages=shown[0],
                gen_ai__output__messages=shown[1])  # fmt: skip


ASKED = [said("system", words("You are an agent.")), said("user", words("Round."))]
FIRST = said(
    "assistant", {"type": "reasoning", "content": "Because."}, words("I write."),
    tool_call("a", "write_file", path="x.py", content="x\n"), tool_call("b", "bash", command="pytest"),
    {"type": "server_tool_call", "id": "w", "name": "web_search",
     "server_tool_call": {"type": "web_search", "query": "q"}},
    {"type": "server_tool_call_response", "id": "w",
     "server_tool_call_response": {"type": "web_search", "content": "found"}},
)  # fmt: skip
BACK = said("tool", {"type": "tool_call_response", "id": "a", "response": "written"},
            {"type": "tool_call_response", "id": "b", "response": "1 failed"})  # fmt: skip
LAST = said("assistant", words("Done."))
SPANS = [
    span(1, "invoke_agent", gen_ai__agent__name="coder", gen_ai__conversation__id="c1"),
    chat(2, ASKED, [FIRST], 1),
    span(3, "execute_tool", 1, gen_ai__tool__name="write_file", gen_ai__tool__call__id="a",
         gen_ai__tool__call__result="written"),
    span(4, "execute_tool", 1, failed=True, gen_ai__tool__name="bash", gen_ai__tool__call__id="b",
         gen_ai__tool__call__result="1 failed"),
    chat(5, [*ASKED, FIRST, BACK], [LAST], 1),
    {**span(6, ""), "name": "GET /health"},
]  # fmt: skip


def document(*spans: Any) -> bytes:
    return json.dumps(otlp(*spans), indent=1).encode()


def test_requests_that_repeat_the_conversation_are_one_conversation() -> None:
    converted = the_one(document(*SPANS), "traces.json")
    run = converted.run
    assert (run.external_id, run.task, run.agent_model, run.started_at) == (
        "c1",
        "Round.",
        "gpt-x",
        "2026-01-01T10:00:01.000Z",
    )
    first, last = run.steps
    assert (first.message, first.thought, first.at) == ("I write.", "Because.", "2026-01-01T10:00:02.000Z")
    assert [(call.name, call.result, call.is_error) for call in first.calls] == [
        ("write_file", "written", False),
        ("bash", "1 failed", True),
        ("web_search", "found", False),
    ]
    assert (last.message, last.calls) == ("Done.", ())
    assert [(file.path, file.added) for file in derive(run).files] == [("x.py", 1)]
    assert converted.report.dropped == {"system message": 1, "span GET /health": 1}


def test_one_document_lines_and_structured_attributes_are_the_same_run() -> None:
    whole = the_one(document(*SPANS), "traces.json").run
    assert the_one(jsonl(*(otlp(each) for each in SPANS)), "traces.jsonl").run.steps == whole.steps
    structured = [SPANS[0], chat(2, ASKED, [FIRST], 1, structured=True), *SPANS[2:]]
    assert the_one(document(*structured), "traces.json").run.steps == whole.steps
    printed = [
        {
            "name": each["name"], "context": {"trace_id": "0xt1", "span_id": f"0x{each['spanId']}"},
            "parent_id": f"0x{each['parentSpanId']}" if each["parentSpanId"] else None,
            "start_time": f"2026-01-01T10:00:0{number}.000Z", "end_time": f"2026-01-01T10:00:0{number + 1}.000Z",
            "status": {"status_code": "ERROR" if each["status"] else "OK"},
            "attributes": {pair["key"]: next(iter(pair["value"].values())) for pair in each["attributes"]},
        }
        for number, each in enumerate(SPANS, 1)
    ]  # fmt: skip
    assert the_one(json.dumps(printed, indent=1).encode(), "spans.json").run.steps == whole.steps


def test_names_with_underscores_are_the_same_names() -> None:
    def underscored(each: Any) -> Any:
        if isinstance(each, dict):
            return {re.sub("[A-Z]", lambda m: f"_{m[0].lower()}", key): underscored(of) for key, of in each.items()}
        return [underscored(of) for of in each] if isinstance(each, list) else each

    written = json.dumps(underscored(otlp(*SPANS)), indent=1).encode()
    assert b"resource_spans" in written
    assert b"string_value" in written
    assert the_one(written, "traces.json").run == the_one(document(*SPANS), "traces.json").run


def test_spans_of_the_ai_sdk_are_read_by_its_own_names() -> None:
    asked = {"role": "user", "content": [{"type": "text", "text": "Round."}]}
    call = {"toolCallId": "a", "toolName": "bash", "input": {"command": "ls"}}
    told = {"role": "assistant", "content": [{"type": "tool-call", **call}]}
    back = {"type": "tool-result", "toolCallId": "a", "toolName": "bash", "output": {"type": "text", "value": "x.py"}}
    by: dict[str, Any] = {"gen_ai__request__model": "gpt-x", "ai__operationId": "ai.generateText.doGenerate"}
    spans = [
        {**span(1, "", ai__operationId="ai.generateText"), "name": "ai.generateText"},
        span(2, "", 1, **by, ai__prompt__messages=json.dumps([asked]), ai__response__text="I look.",
             ai__response__toolCalls=json.dumps([call])),
        span(3, "", 1, ai__operationId="ai.toolCall", ai__toolCall__id="a", ai__toolCall__name="bash",
             ai__toolCall__args='{"command": "ls"}', ai__toolCall__result='"x.py"'),
        span(4, "", 1, **by, ai__response__text="Done.",
             ai__prompt__messages=json.dumps([asked, told, {"role": "tool", "content": [back]}])),
    ]  # fmt: skip
    for each in spans:
        each["attributes"] = [pair for pair in each["attributes"] if pair["key"] != "gen_ai.operation.name"]
        each["name"] = each["name"].strip() or "ai"
    run = the_one(document(*spans), "traces.json").run
    assert (run.task, run.agent_model) == ("Round.", "gpt-x")
    assert [(step.message, [(call.name, call.result) for call in step.calls]) for step in run.steps] == [
        ("I look.", [("bash", "x.py")]),
        ("Done.", []),
    ]


def test_events_as_records_of_a_log_belong_to_their_spans_or_stand_for_them() -> None:
    def record(number: int, kind: str, body: Any = None, **more: Any) -> dict[str, Any]:
        pairs = [{"key": key.replace("__", "."), "value": value(each)} for key, each in more.items()]
        return {"traceId": "t1", "spanId": f"s{number}", "timeUnixNano": str(BEGIN + number * SECOND),
                "eventName": kind, "attributes": pairs, "body": value(body) if body else {}}  # fmt: skip

    def details(number: int, inputs: Any, outputs: Any) -> dict[str, Any]:
        return record(number, "gen_ai.client.inference.operation.details", gen_ai__operation__name="chat",
                      gen_ai__request__model="gpt-x", gen_ai__input__messages=inputs,
                      gen_ai__output__messages=outputs)  # fmt: skip

    def logs(*records: Any) -> dict[str, Any]:
        return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}

    other = record(9, "http.request", "GET /")
    newest = [details(2, ASKED, [FIRST]), details(5, [*ASKED, FIRST, BACK], [LAST]), other]
    whole = the_one(document(*SPANS), "traces.json").run
    bare = [span(2, "chat", gen_ai__request__model="gpt-x"), span(5, "chat", gen_ai__request__model="gpt-x")]
    for data in (jsonl(logs(*newest)), jsonl(otlp(*bare), logs(*newest))):
        converted = the_one(data)
        assert [step.message for step in converted.run.steps] == [step.message for step in whole.steps]
        assert [[call.result for call in step.calls] for step in converted.run.steps] == [
            ["written", "1 failed", "found"],
            [],
        ]
        assert (converted.run.task, converted.run.agent_model) == ("Round.", "gpt-x")
        assert converted.report.dropped["record of a log that is none of generative AI"] == 1
    older = [
        record(2, "gen_ai.user.message", {"content": "Round."}),
        record(2, "gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "I round."}}),
    ]
    run = the_one(jsonl(logs(*older))).run
    assert (run.task, [step.message for step in run.steps]) == ("Round.", ["I round."])
    _, refusal = read(jsonl(logs(other)))
    assert isinstance(refusal, Unreadable)
    assert "none of a model, a tool or an agent" in refusal.sentence


def test_older_forms_of_messages_are_read() -> None:
    def event(name: str, **members: Any) -> dict[str, Any]:
        return {"name": name, "attributes": [{"key": key, "value": value(each)} for key, each in members.items()]}

    calls = json.dumps([{"id": "a", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}])
    choice = {"role": "assistant", "content": "I look.", "tool_calls": json.loads(calls)}
    events = [
        event("gen_ai.user.message", content="Round."),
        event("gen_ai.choice", index=0, message=json.dumps(choice)),
    ]
    answered = [*events[:1], event("gen_ai.assistant.message", content="I look.", tool_calls=calls),
                event("gen_ai.tool.message", id="a", content="x.py"),
                event("gen_ai.choice", message='{"content": "Done."}')]  # fmt: skip
    flat: dict[str, Any] = {
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Round.", "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "I look.", "gen_ai.completion.0.tool_calls.0.id": "a",
        "gen_ai.completion.0.tool_calls.0.name": "bash",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"command": "ls"}',
    }  # fmt: skip
    by_events = the_one(document(span(1, "chat", events=events), span(2, "chat", events=answered)), "t.json").run
    assert [(step.message, [call.result for call in step.calls]) for step in by_events.steps] == [
        ("I look.", ["x.py"]),
        ("Done.", []),
    ]
    (step,) = the_one(document(span(1, "chat", **flat)), "t.json").run.steps
    assert (step.message, step.calls[0].name, step.calls[0].arguments) == ("I look.", "bash", {"command": "ls"})


def test_an_agent_that_a_tool_started_is_folded_under_the_call() -> None:
    inner = said("assistant", words("I looked."), tool_call("z", "write_file", path="y.py", content="y\n"))
    spans = [
        span(1, "invoke_agent", gen_ai__agent__name="coder"),
        chat(2, ASKED, [said("assistant", tool_call("h", "ask", task="Look."))], 1),
        span(
            3,
            "execute_tool",
            1,
            gen_ai__tool__name="ask",
            gen_ai__tool__call__id="h",
            gen_ai__tool__call__result="looked",
        ),
        span(4, "invoke_agent", 3, gen_ai__agent__name="helper"),
        chat(5, [said("user", words("Look."))], [inner], 4),
        span(
            6,
            "execute_tool",
            4,
            gen_ai__tool__name="write_file",
            gen_ai__tool__call__id="z",
            gen_ai__tool__call__result="ok",
        ),
    ]
    run = the_one(document(*spans), "t.json").run
    (step,) = run.steps
    (agent,) = step.agents
    assert (agent.name, agent.call_id, agent.task) == ("helper", "h", "Look.")
    assert [each.message for each in agent.steps] == ["I looked."]
    assert [(file.path, file.added) for file in derive(run).files] == [("y.py", 1)]
    assert set(run.event_steps) == {0}


def test_spans_without_contents_say_so_and_those_of_others_are_refused() -> None:
    bare = [span(1, "chat"), span(2, "execute_tool", gen_ai__tool__name="bash", gen_ai__tool__call__id="a")]
    run = the_one(document(*bare), "t.json").run
    assert [call.name for step in run.steps for call in step.calls] == ["bash"]
    assert run.gaps[0].startswith("The spans have no messages: what was said was not recorded.")
    _, refusal = read(document({**span(1, ""), "name": "GET /"}), "t.json")
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence.startswith("t.json has 1 spans and none of a model, a tool or an agent")
    _, silent = read(document(span(1, "chat")), "t.json")
    assert isinstance(silent, Unreadable)
    assert silent.sentence.startswith("The trace t1 has no call of a tool and no message of a model")


def test_two_traces_are_two_runs_and_messages_alone_are_one() -> None:
    def unnamed(each: dict[str, Any]) -> list[Any]:
        return [pair for pair in each["attributes"] if "conversation" not in pair["key"]]

    other = [{**each, "traceId": "t2", "attributes": unnamed(each)}
             for each in SPANS]  # fmt: skip
    assert [run.external_id for run in runs(read(document(*SPANS, *other), "t.json"))] == ["c1", "t2"]
    run = the_one(json.dumps([*ASKED, FIRST, BACK, LAST], indent=1).encode(), "messages.json").run
    assert [(step.message, len(step.calls)) for step in run.steps] == [("I write.", 3), ("Done.", 0)]
    assert run.steps[0].calls[0].result == "written"


def test_the_published_schemas_are_refused_as_schemas() -> None:
    for path in shared_files("otel-genai/*.json"):
        entries = list(read_file(source_at(path), ReadingOptions()))
        assert not any(isinstance(entry, Converted) for entry in entries)
        assert [
            " is a JSON schema, and no trace." in entry.sentence for entry in entries if isinstance(entry, Unreadable)
        ] == [True]


def test_broken_files_raise_nothing() -> None:
    assert read_damaged(document(*SPANS), "t.json", "otel_genai", seed=8, number=450) > 20
    assert read_damaged(jsonl(*(otlp(each) for each in SPANS)), "t.jsonl", "otel_genai", seed=9, number=150) > 30
    assert read_damaged(json.dumps([*ASKED, FIRST, BACK, LAST]).encode(), "m.json", "otel_genai", seed=10) > 30
