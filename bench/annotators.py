"""Annotators at work over HTTP, in a process of their own: `python -m bench.annotators < plan.json > result.json`.

Needs nothing of the site but its address and sessions. Each annotator is a thread with one kept connection, which
claims the next trace, loads its page, saves a draft and submits. An answer that is not the expected one is an error.
"""

import gzip
import http.client
import json
import re
import sys
import threading
import time
import uuid
from collections import Counter, defaultdict
from typing import Any

SITE = {"Accept-Encoding": "gzip, deflate, br", "User-Agent": "bench"}
_ROW = re.compile(rb"<tr[ >]")


class WrongAnswerError(Exception):
    """An answer that an annotator cannot go on with."""


class Annotator(threading.Thread):
    def __init__(self, plan: dict[str, Any], session: str) -> None:
        super().__init__()
        self.plan, self.loops = plan, plan["loops"]
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: Counter[str] = Counter()
        self.page: dict[str, int] = {}
        csrf = uuid.uuid4().hex
        names = plan["cookies"]
        self.home, self.project = f"/o/{plan['organisation']}/", plan["project"]
        self.api = f"{self.home}api/v1/"
        self.cookies = {names["session"]: session, names["csrf"]: csrf}
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        self.headers = {**SITE, "Cookie": cookies, "X-CSRFToken": csrf}
        self.connection = http.client.HTTPConnection(plan["host"], timeout=120)

    def run(self) -> None:
        for _ in range(self.loops):
            begin = time.perf_counter()
            try:
                self.loop()
            except WrongAnswerError as wrong:
                self.errors[str(wrong)] += 1
            except (OSError, http.client.HTTPException) as error:
                self.errors[repr(error)] += 1
                self.connection.close()
            self.seconds["loop"].append(time.perf_counter() - begin)
        self.connection.close()

    def loop(self) -> None:
        """One trace, from claim to submission."""
        answers = self.plan["answers"]
        work = self.claim()
        self.load(self.task_path(work))
        self.save(work, answers)
        body = {"lease_token": work["lease_token"], "annotations": answers}
        self.send("submit", "POST", f"{self.api}assignments/{work['id']}/submit/", body, expected=201)

    def claim(self) -> dict[str, Any]:
        """The next trace of the project, as the assignment that the API answers."""
        found: dict[str, Any] | None = self.send("next", "POST", f"{self.api}projects/{self.project}/next/", {})[
            "assignment"
        ]
        if found is None:
            raise WrongAnswerError("next: there is no trace left")
        return found

    def save(self, work: dict[str, Any], answers: dict[str, Any]) -> None:
        """The first draft of an assignment."""
        content = {"answers": answers, "page": {"viewed": list(answers["file_ratings"])}}
        body = {"lease_token": work["lease_token"], "revision": 0, "content": content}
        self.send("draft", "PUT", f"{self.api}assignments/{work['id']}/draft/", body)

    def task_path(self, work: dict[str, Any]) -> str:
        return f"{self.home}p/{self.project}/tasks/{work['id']}/"

    def load(self, path: str) -> None:
        """The page, which has the first rows in it."""
        status, headers, body = self.ask("page", "GET", path)
        if status != 200:
            raise WrongAnswerError(f"page: status {status}")
        text = gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body
        if b'id="task-data"' not in text:
            raise WrongAnswerError("page: it is not the page of an open task")
        self.page = {"sent": len(body), "bytes": len(text), "rows": len(_ROW.findall(text))}

    def send(self, name: str, method: str, path: str, body: Any, expected: int = 200) -> Any:
        headers = {"Content-Type": "application/json"}
        if path.endswith("/submit/"):  # As the page does.
            headers["Idempotency-Key"] = str(uuid.uuid4())
        status, got, answer = self.ask(name, method, path, json.dumps(body).encode(), headers)
        if status != expected:
            raise WrongAnswerError(f"{name}: status {status}, {answer[:300]!r}")
        return json.loads(gzip.decompress(answer) if got.get("Content-Encoding") == "gzip" else answer)

    def ask(
        self, name: str, method: str, path: str, body: bytes | None = None, more: dict[str, str] | None = None
    ) -> tuple[int, Any, bytes]:
        begin = time.perf_counter()
        self.connection.request(method, path, body, {**self.headers, **(more or {})})
        response = self.connection.getresponse()
        content = response.read()
        self.seconds[name].append(time.perf_counter() - begin)
        return response.status, response.headers, content


def work(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan done: each session's loops at once. Seconds by request, errors by what they were, one page's size."""
    annotators = [Annotator(plan, session) for session in plan["sessions"]]
    begin = time.perf_counter()
    for annotator in annotators:
        annotator.start()
    for annotator in annotators:
        annotator.join()
    seconds: dict[str, list[float]] = defaultdict(list)
    errors: Counter[str] = Counter()
    for annotator in annotators:
        errors += annotator.errors
        for name, found in annotator.seconds.items():
            seconds[name] += found
    elapsed = time.perf_counter() - begin
    return {"seconds": seconds, "errors": errors, "page": annotators[0].page, "elapsed": elapsed}


if __name__ == "__main__":
    json.dump(work(json.load(sys.stdin)), sys.stdout)
