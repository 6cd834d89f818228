"""What `gemini --output-format stream-json` prints, as a recorded chat.

Field notes
- Lines {type, timestamp}: init {session_id, model}, message {role: user | assistant, content, delta}, tool_use
  {tool_name, tool_id, parameters}, tool_result {tool_id, status: success | error, output, error: {type, message}},
  error {severity, message}, result {status, stats}. A message of the model comes in pieces, each with `delta`.
"""

from potato.runs.converters.fields import name, text, word_set
from potato.runs.model import JSON, ConversionReport

_KINDS = word_set("init message tool_use tool_result error result")


def is_stream_line(record: dict[str, JSON]) -> bool:
    """Whether it is a line of that output by itself; a message alone is none, since others have the like."""
    kind = text(record, "type")
    is_begin = kind == "init" and {"session_id", "model"} <= record.keys()
    return is_begin or (kind == "tool_use" and {"tool_name", "tool_id"} <= record.keys())


class StreamedMessages:
    """Takes the lines in their order; `messages` are those of a recorded chat."""

    def __init__(self) -> None:
        self.facts: dict[str, JSON] = {}
        self.messages: list[dict[str, JSON]] = []
        self._calls: dict[str, dict[str, JSON]] = {}
        self._is_open = False
        self._model = ""

    def take(self, record: dict[str, JSON], report: ConversionReport) -> bool:
        """One more line; False for one of another form."""
        kind, at = text(record, "type"), text(record, "timestamp")
        if kind not in _KINDS:
            return False
        if kind == "init":
            self.facts = {"sessionId": name(record, "session_id"), "startTime": at}
            self._model = text(record, "model")
        elif kind == "message" and text(record, "role") == "user":
            self._is_open = False
            self._add({"type": "user", "content": text(record, "content")}, at)
        elif kind == "message":
            message = self._open(at, is_speaking=True)
            message["content"] += text(record, "content")
        elif kind == "tool_use":
            call: dict[str, JSON] = {"id": name(record, "tool_id"), "name": text(record, "tool_name")}
            call["args"], call["status"] = record.get("parameters"), "executing"
            self._calls[call["id"]] = call
            self._open(at)["toolCalls"].append(call)
        elif kind == "tool_result":
            self._answer(record, report)
        else:
            report.dropped[f"{kind} line"] += 1
        return True

    def _add(self, message: dict[str, JSON], at: str) -> dict[str, JSON]:
        self.messages.append({"id": f"line {len(self.messages) + 1}", "timestamp": at, **message})
        return self.messages[-1]

    def _open(self, at: str, *, is_speaking: bool = False) -> dict[str, JSON]:
        """The message that the next piece belongs to: words behind calls begin another one."""
        if not self._is_open or (is_speaking and self.messages[-1]["toolCalls"]):
            self._is_open = True
            return self._add({"type": "gemini", "content": "", "toolCalls": [], "model": self._model}, at)
        return self.messages[-1]

    def _answer(self, record: dict[str, JSON], report: ConversionReport) -> None:
        call = self._calls.get(name(record, "tool_id"))
        if call is None:
            report.repairs["result without its call"] += 1
            return
        words = text(record, "output") or text(record.get("error"), "message")
        call["status"] = text(record, "status") or "success"
        call["result"] = [{"functionResponse": {"id": call["id"], "response": {"output": words}}}]
