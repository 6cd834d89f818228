"""Pictures that tools gave back: found in every form in which programs write them, and kept on the way through JSON."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from potato.runs.converters.native import run_as_native
from potato.runs.exact_json import step_from, step_record
from potato.runs.model import AgentRun, Screenshot, ToolCall, Unreadable
from tests.potato.runs.converters import test_atif as atif
from tests.potato.runs.converters import test_gemini_cli as gemini
from tests.potato.runs.converters import test_inspect as inspect
from tests.potato.runs.converters import test_langfuse as langfuse
from tests.potato.runs.converters import test_mini_swe_agent as mini
from tests.potato.runs.converters import test_openhands as openhands
from tests.potato.runs.converters import test_otel_genai as otel
from tests.potato.runs.converters import test_swe_agent as swe
from tests.potato.runs.converters.test_codex import RolloutFile
from tests.potato.runs.converters.test_openai_messages import call
from tests.potato.runs.reading import jsonl, read, the_one
from tests.potato.runs.sessions import SessionFile
from tests.potato.runs.web_runs import drawn

PAGES = (drawn(colour="#336699"), drawn(colour="#993366"))
ENCODED = [base64.b64encode(page).decode() for page in PAGES]
URLS = [f"data:image/png;base64,{data}" for data in ENCODED]
WORDS = {"type": "text", "text": "Two pages."}


def anthropic(data: str) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def claude_code() -> bytes:
    session = SessionFile()
    session.user("Look at the pages.")
    session.agent({"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "/a.png"}}, message_id="m1")
    session.result("a", [WORDS, *map(anthropic, ENCODED)])
    return jsonl(*session.lines)


def structured_turns() -> bytes:
    turn = {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"tool": "Read", "input": {}, "output": [*map(anthropic, ENCODED)]}],
    }
    return jsonl({"id": "r", "structured_turns": [{"role": "user", "content": "Look."}, turn]})


def chat() -> bytes:
    parts = [WORDS, *({"type": "image_url", "image_url": {"url": url}} for url in URLS)]
    asked = {"role": "assistant", "content": "I look.", "tool_calls": [call("a", "look", "{}")]}
    answer = {"role": "tool", "tool_call_id": "a", "content": parts}
    return jsonl({"messages": [{"role": "user", "content": "Look."}, asked, answer]})


def responses() -> bytes:
    output = [{"type": "input_image", "image_url": url} for url in URLS]
    asked = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "a", "output": output}
    return jsonl({"role": "user", "content": "Look."}, asked, answer)


def codex() -> bytes:
    file = RolloutFile().user("Look.").call("a", "view_image", path="a.png")
    return file.output("a", [{"type": "input_image", "image_url": url} for url in URLS]).agent("Done.").data


def codex_tool_of_a_server() -> bytes:
    content = [{"type": "image", "data": data, "mimeType": "image/png"} for data in ENCODED]
    file = RolloutFile().user("Look.").agent("I look.")
    return file.done(
        type="McpToolCall", id="a", server="s", tool="look", arguments={}, result={"content": content}
    ).data


def openhands_v0(kind: str, content: str, **extras: Any) -> bytes:
    return jsonl(openhands.TASK, openhands.v0_action(2, kind), openhands.v0_observation(3, 2, kind, content, **extras))


def openhands_v0_cell() -> bytes:
    return openhands_v0("run_ipython", "Two plots.", image_urls=URLS)


def openhands_v0_server() -> bytes:
    content = [WORDS, *({"type": "image", "data": data, "mimeType": "image/png"} for data in ENCODED)]
    return openhands_v0("mcp", json.dumps({"meta": None, "content": content, "isError": False}))


def swe_agent() -> bytes:
    shown = "".join(f"![page {at}]({url})\n" for at, url in enumerate(URLS))
    return json.dumps({"trajectory": [swe.step("view_image a.png", f"Two pages.\n{shown}")], "info": {}}).encode()


def swe_agent_history() -> bytes:
    parts = [WORDS, *({"type": "image_url", "image_url": {"url": url}} for url in URLS)]
    asked = {"role": "assistant", "content": "x", "thought": "I look.", "action": "view_image a.png", "agent": "main"}
    history = [{"role": "user", "content": "Look.", "agent": "main"}, asked, {"role": "user", "content": parts}]
    return json.dumps({"history": history, "info": {}}).encode()


def openhands_v1() -> bytes:
    content = [WORDS, {"type": "image", "image_urls": URLS}]
    return jsonl(*openhands.V1[:3], openhands.v1_observation(4, 2, "e2", content=content))


def gemini_chat() -> bytes:
    given = [{"inlineData": {"mimeType": "image/png", "data": data}} for data in ENCODED]
    response = {"functionResponse": {"id": "a", "name": "look", "response": {"output": "Two pages."}}}
    asked = {**gemini.tool_call("a", "look"), "result": [response, *given]}
    return gemini.chat(gemini.MESSAGES[1], gemini.message(3, "gemini", "I look.", toolCalls=[asked]))


def inspect_log() -> bytes:
    content = [WORDS, {"type": "image", "image": URLS[0]}, {"type": "image", "image": "attachment://p"}]
    messages = [{"role": "user", "content": "Look."}, inspect.assistant(1, "I look.", ("a", "look", {}))]
    sample = {"id": "s", "epoch": 1, "input": "Look.", "messages": [*messages, inspect.tool("a", content)]}
    return inspect.log({**sample, "events": [], "attachments": {"p": URLS[1]}, "scores": {}})


def spans() -> bytes:
    given = [{"type": "image_url", "image_url": {"url": url}} for url in URLS]
    answered = otel.said("tool", {"type": "tool_call_response", "id": "a", "response": given})
    first = otel.said("assistant", otel.tool_call("a", "look"))
    rest = [*otel.ASKED, first, answered]
    both = (otel.chat(1, otel.ASKED, [first]), otel.chat(2, rest, [otel.said("assistant", otel.words("Done."))]))
    return json.dumps(otel.otlp(*both)).encode()


def span_of_a_tool() -> bytes:
    """What a tool of a server gave back, as its own span records it."""
    content = [WORDS, *({"type": "image", "data": data, "mimeType": "image/png"} for data in ENCODED)]
    given = json.dumps({"content": content, "isError": False})
    first = otel.said("assistant", otel.tool_call("a", "look"))
    tool: dict[str, Any] = {
        "gen_ai__tool__name": "look",
        "gen_ai__tool__call__id": "a",
        "gen_ai__tool__call__result": given,
    }
    return json.dumps(otel.otlp(otel.chat(1, otel.ASKED, [first]), otel.span(2, "execute_tool", **tool))).encode()


def spans_with_blobs() -> bytes:
    given = [otel.words("Two pages."), *map(blob, ENCODED)]
    answered = otel.said("tool", {"type": "tool_call_response", "id": "a", "response": given})
    first = otel.said("assistant", otel.tool_call("a", "look"))
    rest = [*otel.ASKED, first, answered]
    both = (otel.chat(1, otel.ASKED, [first]), otel.chat(2, rest, [otel.said("assistant", otel.words("Done."))]))
    return json.dumps(otel.otlp(*both)).encode()


def blob(data: str) -> dict[str, Any]:
    return {"type": "blob", "modality": "image", "mime_type": "image/png", "content": data}


def langfuse_tool() -> bytes:
    """What a tool gave back, as its own observation has it."""
    content = [WORDS, *({"type": "image", "data": data, "mimeType": "image/png"} for data in ENCODED)]
    asked = {"role": "assistant", "content": "I look.", "tool_calls": [langfuse.openai_call("a", "look")]}
    observations = [
        langfuse.observation(1, "GENERATION", input=langfuse.ASKED, output=asked),
        langfuse.observation(2, "TOOL", name="look", input={"id": "a", "name": "look", "args": {}}, output=content),
    ]
    return langfuse.trace(observations=observations)


def langfuse_answer() -> bytes:
    """What a tool gave back, as the next request repeats it."""
    asked = {"role": "assistant", "content": "I look.", "tool_calls": [langfuse.openai_call("a", "look")]}
    parts = [WORDS, *({"type": "image_url", "image_url": {"url": url}} for url in URLS)]
    answer = {"role": "tool", "tool_call_id": "a", "content": parts}
    observations = [
        langfuse.observation(1, "GENERATION", input=langfuse.ASKED, output=asked),
        langfuse.observation(2, "GENERATION", input=[*langfuse.ASKED, asked, answer], output="Done."),
    ]
    return langfuse.trace(observations=observations)


def mini_swe_agent() -> bytes:
    """As version 2 has it where its model makes parts of what a command printed."""
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in URLS]
    begin = {"type": "text", "text": "<returncode>0</returncode>\n<output>\n"}
    content = [begin, *shown, {"type": "text", "text": "\n</output>"}]
    answer = {"role": "tool", "tool_call_id": "a", "content": content, "extra": {"raw_output": "x", "returncode": 0}}
    asked = {
        "role": "assistant",
        "content": "I look.",
        "extra": {"actions": [{"command": "shot", "tool_call_id": "a"}]},
    }
    return mini.as_file(mini.trajectory([*mini.FIRST, asked, answer]))


def mini_swe_agent_text() -> bytes:
    """As it is where the model was not told to."""
    kind = "<CONTENT_TYPE>image_url</CONTENT_TYPE>"
    shown = "\n".join(f"<MSWEA_MULTIMODAL_CONTENT>{kind}{url}</MSWEA_MULTIMODAL_CONTENT>" for url in URLS)
    return mini.as_file(mini.trajectory([*mini.FIRST, mini.acts("shot"), mini.answered(f"Two pages.\n{shown}\n")]))


def native() -> bytes:
    given = {"name": "look", "result": "Two pages.", "pictures": [URLS[0], {"name": "b.png", "data": URLS[1]}]}
    return jsonl({"id": "r", "task_description": "Look.", "steps": [{"message": "I look.", "tool_calls": [given]}]})


def native_with_blocks() -> bytes:
    given = {"name": "look", "result": [WORDS, *map(anthropic, ENCODED)]}
    return jsonl({"id": "r", "task_description": "Look.", "steps": [{"message": "I look.", "tool_calls": [given]}]})


FORMS = [
    claude_code, structured_turns, chat, responses, codex, codex_tool_of_a_server, openhands_v0_cell,
    openhands_v0_server, openhands_v1, swe_agent, swe_agent_history, gemini_chat, inspect_log,
    spans, span_of_a_tool, spans_with_blobs, langfuse_tool, langfuse_answer, mini_swe_agent, mini_swe_agent_text,
    native, native_with_blocks,
]  # fmt: skip


def called(run: AgentRun) -> ToolCall:
    (answered,) = (call for step in run.steps for call in step.calls if call.result is not None)
    return answered


@pytest.mark.parametrize("form", FORMS)
def test_the_pictures_of_a_result_are_the_calls_in_their_order(form: Any) -> None:
    answered = called(the_one(form(), "trace.jsonl").run)
    assert [picture.data for picture in answered.pictures] == list(PAGES)
    if "native" not in form.__name__:
        assert all(picture.name.startswith("image") for picture in answered.pictures)
    if form is not native and form is not gemini_chat:
        assert answered.result is not None
        assert "image" in answered.result, "their lines stay, as exports have them"


def test_a_run_with_pictures_is_the_same_after_a_trip_through_json() -> None:
    run = the_one(claude_code()).run
    again = the_one(json.dumps(run_as_native(run)).encode(), "run.json").run
    assert called(again).pictures == called(run).pictures
    kept = tuple(
        replace(picture, data=b"", sha256=str(at) * 64, width=9) for at, picture in enumerate(called(run).pictures)
    )
    step = replace(run.steps[0], calls=(replace(called(run), pictures=kept),))
    assert step_from(json.loads(json.dumps(step_record(step)))) == step
    assert "pictures" not in step_record(replace(run.steps[0], calls=(ToolCall("a", "b", {}),)))["calls"][0]


def test_a_page_and_a_picture_that_was_read_are_pictures_of_old_events() -> None:
    browsed = called(
        the_one(
            openhands_v0("browse", "A shop.", url="https://a.example", screenshot=URLS[0], set_of_marks=URLS[1])
        ).run
    )
    assert (browsed.result, [each.data for each in browsed.pictures]) == (
        f"A shop.\n[image/png, {len(PAGES[0])} bytes]",
        [PAGES[0]],
    )
    seen = called(the_one(openhands_v0("read", URLS[1], path="/workspace/a.png")).run)
    assert (seen.result, [each.data for each in seen.pictures]) == (f"[image/png, {len(PAGES[1])} bytes]", [PAGES[1]])
    unseen = called(
        the_one(openhands_v0("browse", "A shop.", screenshot="", image_urls=["https://a.example/a.png"])).run
    )
    assert (unseen.result, unseen.pictures) == ("A shop.", ())


def said_in_claude_code(parts: list[Any], after: list[Any]) -> bytes:
    session = SessionFile()
    session.user(parts)
    session.agent({"type": "text", "text": "I see."}, message_id="m1")
    session.user(after)
    return jsonl(*session.lines)


def said_to_claude(parts: list[Any], after: list[Any]) -> bytes:
    """Plain messages of Anthropic's form."""
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}]}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "Two."}]}
    messages = [{"role": "user", "content": parts}, asked, answer, {"role": "user", "content": after}]
    return jsonl({"model": "claude", "messages": messages})


def said_in_chat(parts: list[Any], after: list[Any]) -> bytes:
    asked = {"role": "assistant", "content": "I look.", "tool_calls": [call("a", "look", "{}")]}
    answer = {"role": "tool", "tool_call_id": "a", "content": "Two."}
    return jsonl({"messages": [{"role": "user", "content": parts}, asked, answer, {"role": "user", "content": after}]})


def said_in_codex(parts: list[Any], after: list[Any]) -> bytes:
    file = RolloutFile().item("message", role="user", content=parts).agent("I see.")
    return file.item("message", role="user", content=after).data


def said_in_openhands_v1(parts: list[Any], after: list[Any]) -> bytes:
    asked, thanks = (
        {**openhands.V1[1], "id": key, "llm_message": {"role": "user", "content": content}}
        for key, content in (("first", parts), ("last", after))
    )
    return jsonl(openhands.V1[0], asked, *openhands.V1[2:], thanks)


def said_in_atif(parts: list[Any], after: list[Any]) -> bytes:
    steps = (atif.step(1, "user", parts), atif.step(2, "agent", "I see."), atif.step(3, "user", after))
    return atif.document(atif.trajectory(*steps))


def said_in_inspect(parts: list[Any], after: list[Any]) -> bytes:
    messages = [{"role": "user", "content": parts}, inspect.assistant(1, "I see."), {"role": "user", "content": after}]
    return inspect.log({"id": "s", "epoch": 1, "input": "Look.", "messages": messages, "events": [], "scores": {}})


def said_in_gemini(parts: list[Any], after: list[Any]) -> bytes:
    answer = gemini.message(2, "gemini", "I see.")
    return gemini.chat(gemini.message(1, "user", parts), answer, gemini.message(3, "user", after))


def said_in_spans(parts: list[Any], after: list[Any]) -> bytes:
    asked, answer = otel.said("user", *parts), otel.said("assistant", otel.words("I see."))
    again = [asked, answer, otel.said("user", *after)]
    return json.dumps(otel.otlp(otel.chat(1, [asked], [answer]), otel.chat(2, again, []))).encode()


def said_in_langfuse(parts: list[Any], after: list[Any]) -> bytes:
    messages = [{"role": "user", "content": parts}, langfuse.FIRST, {"role": "user", "content": after}]
    observations = [langfuse.observation(1, "GENERATION", input=messages, output=[])]
    return langfuse.trace(observations=observations)


def said_in_mini_swe_agent(parts: list[Any], after: list[Any]) -> bytes:
    messages = [
        {"role": "user", "content": parts},
        mini.acts("ls"),
        mini.answered("a"),
        {"role": "user", "content": after},
    ]
    return mini.as_file(mini.trajectory(messages))


CODEX_PICTURES = [{"type": "input_image", "image_url": url} for url in URLS]
GEMINI_PICTURES = [{"inlineData": {"mimeType": "image/png", "data": data}} for data in ENCODED]
CHAT_PICTURES = [{"type": "image_url", "image_url": {"url": url}} for url in URLS]
OPENINFERENCE_PICTURES = [{"type": "image", "image": {"url": url}} for url in URLS]
SAID = {"type": "input_text", "text": "Two pages."}
MESSAGES = [
    (said_in_claude_code, [WORDS, *map(anthropic, ENCODED)]),
    (said_to_claude, [WORDS, *map(anthropic, ENCODED)]),
    (said_in_chat, [WORDS, *CHAT_PICTURES]),
    (said_in_codex, [SAID, *CODEX_PICTURES]),
    (said_in_openhands_v1, [WORDS, {"type": "image", "image_urls": URLS}]),
    (said_in_inspect, [WORDS, *({"type": "image", "image": url} for url in URLS)]),
    (said_in_gemini, [{"text": "Two pages."}, *GEMINI_PICTURES]),
    (said_in_spans, [otel.words("Two pages."), *map(blob, ENCODED)]),
    (said_in_spans, [otel.words("Two pages."), *({"type": "uri", "modality": "image", "uri": url} for url in URLS)]),
    (said_in_langfuse, [WORDS, *CHAT_PICTURES]),
    (said_in_langfuse, [WORDS, *map(anthropic, ENCODED)]),
    (said_in_langfuse, [WORDS, *OPENINFERENCE_PICTURES]),
    (said_in_mini_swe_agent, [WORDS, *CHAT_PICTURES]),
]  # fmt: skip


@pytest.mark.parametrize(("form", "parts"), MESSAGES)
def test_the_pictures_that_a_person_sent_stand_with_the_step_that_answers(form: Any, parts: list[Any]) -> None:
    run = the_one(form(parts, parts[:1]), "trace.jsonl").run
    assert [picture.data for picture in run.steps[0].prompt_pictures] == list(PAGES)
    assert all(not step.prompt_pictures for step in run.steps[1:])
    assert not any(step.after_pictures for step in run.steps)
    assert "Two pages." in run.task + run.steps[0].prompt
    assert ENCODED[0] not in run.task + run.steps[0].prompt, "a line names each picture"
    again = the_one(json.dumps(run_as_native(run)).encode(), "run.json").run
    assert [picture.data for picture in again.steps[0].prompt_pictures] == list(PAGES)
    kept = replace(run.steps[0], prompt_pictures=(Screenshot("a", b"", "a" * 64, 9, 8),))
    assert step_from(json.loads(json.dumps(step_record(kept)))) == kept


@pytest.mark.parametrize(("form", "parts"), MESSAGES)
def test_the_pictures_that_came_behind_the_last_step_stand_with_it(form: Any, parts: list[Any]) -> None:
    run = the_one(form(parts[:1], parts), "trace.jsonl").run
    assert not any(step.prompt_pictures for step in run.steps)
    assert not any(step.after_pictures for step in run.steps[:-1])
    last = run.steps[-1]
    assert [picture.data for picture in last.after_pictures] == list(PAGES)
    assert "Two pages." in last.after
    again = the_one(json.dumps(run_as_native(run)).encode(), "run.json").run
    assert [picture.data for picture in again.steps[-1].after_pictures] == list(PAGES)
    kept = replace(last, after_pictures=(Screenshot("a", b"", "a" * 64, 9, 8),))
    assert step_from(json.loads(json.dumps(step_record(kept)))) == kept


def test_a_picture_that_langfuse_keeps_apart_is_named_by_its_id() -> None:
    token = "@@@langfuseMedia:type=image/png|id=A1B2-c3|source=base64_data_uri@@@"
    for part in ({"type": "image_url", "image_url": {"url": token}}, anthropic(token)):
        run = the_one(said_in_langfuse([WORDS, part], [WORDS]), "trace.json").run
        assert run.steps[0].prompt_pictures == (Screenshot(name="A1B2-c3"),)
        assert token in run.task


def test_a_picture_beside_a_trajectory_may_be_a_persons() -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}
    run = the_one(said_in_atif([WORDS, picture], [WORDS, picture]), "t.json").run
    assert run.steps[0].prompt_pictures == run.steps[0].after_pictures == (Screenshot(name="images/a.png"),)


def test_a_task_with_pictures_in_its_text_has_them_with_the_first_step() -> None:
    statement = {"id": "chart-1", "text": f"The chart is cut:\n![before]({URLS[0]})\nMend it."}
    document = {
        "trajectory": [swe.step("ls", "chart.js"), swe.step("submit", "")],
        "replay_config": {"problem_statement": statement},
        "info": {},
    }
    run = the_one(json.dumps(document).encode(), "chart-1.traj").run
    assert run.task == f"The chart is cut:\n[image/png, {len(PAGES[0])} bytes]\nMend it."
    assert [[each.data for each in step.prompt_pictures] for step in run.steps] == [[PAGES[0]], []]
    assert run.steps[0].prompt == ""


def test_a_person_sends_pictures_to_old_openhands() -> None:
    asked = {**openhands.TASK, "args": {"content": "Look.", "image_urls": [URLS[0], "https://a.example/b.png"]}}
    run = the_one(jsonl(asked, openhands.v0_action(2, "finish", final_thought="I see."))).run
    assert run.task == f"Look.\n[image/png, {len(PAGES[0])} bytes]\n[image https://a.example/b.png]"
    assert [picture.data for picture in run.steps[0].prompt_pictures] == [PAGES[0]]


def test_a_trajectory_names_files_beside_it() -> None:
    picture = {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}
    on_the_web = {"type": "image", "source": {"media_type": "image/png", "url": "https://a.example/a.png"}}
    observed = atif.results({"source_call_id": "a", "content": [WORDS, picture, on_the_web]})
    acting = atif.step(2, "agent", "I look.", tool_calls=[atif.call("a", "look")], observation=observed)
    run = the_one(atif.document(atif.trajectory(atif.step(1, "user", "Look."), acting)), "t.json").run
    assert called(run).pictures == (Screenshot(name="images/a.png"),)


def test_what_is_no_picture_is_none_of_the_pictures() -> None:
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}
    sound = {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}
    given = {"name": "look", "result": [WORDS, document, sound, {"type": "image", "url": "https://a.example/a.png"}]}
    steps = [{"message": "I look.", "tool_calls": [given]}]
    assert called(the_one(jsonl({"id": "r", "task_description": "Look.", "steps": steps})).run).pictures == ()


@pytest.mark.parametrize(
    ("pictures", "sentence"),
    [
        ({}, "steps[0].tool_calls[0].pictures must be a list, got an object."),
        ([7], "steps[0].tool_calls[0].pictures[0] must be a text or an object, got a number."),
    ],
)
def test_pictures_of_a_wrong_shape_are_refused_with_their_place(pictures: Any, sentence: str) -> None:
    steps = [{"message": "I look.", "tool_calls": [{"name": "look", "pictures": pictures}]}]
    _, refusal = read(jsonl({"id": "r", "task_description": "Look.", "steps": steps}), named="native", explicit=True)
    assert isinstance(refusal, Unreadable)
    assert refusal.sentence == f"Record 1: {sentence}"
