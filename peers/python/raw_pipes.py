"""Bare pipes: what a client of this SDK would never send, and the very bytes of what comes back."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from typing import Any, Callable

from support import EXIT_GRACE, POLL, PREFIX, VERSION, WAIT_BOUND, Failure, Tally, check

OVERLONG = 5 * 1024 * 1024
# So many books that the rebuild is still running when it is stopped.
MANY_BOOKS = 1_000_000

RAW_STEPS: list[tuple[str, Callable[[list[str]], None]]] = []


def raw_step(name: str) -> Callable[[Callable[[list[str]], None]], Callable[[list[str]], None]]:
    def register(step: Callable[[list[str]], None]) -> Callable[[list[str]], None]:
        RAW_STEPS.append((name, step))
        return step

    return register


def meta(version: str = VERSION) -> dict[str, Any]:
    return {
        PREFIX + "protocolVersion": version,
        PREFIX + "clientInfo": {"name": "pipes", "version": "1"},
        PREFIX + "clientCapabilities": {},
    }


def request(id: Any, method: str, *, version: str = VERSION, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": meta(version)}}


def call(id: Any, tool: str, arguments: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=tool, arguments=arguments)


def cancelled(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def line(message: dict[str, Any] | bytes) -> bytes:
    if isinstance(message, bytes):
        return message + b"\n"
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def parse(raw: bytes) -> dict[str, Any]:
    try:
        message = json.loads(raw.decode())
    except ValueError as error:
        raise Failure(f"not a message on stdout: {raw[:200]!r}") from error
    check(isinstance(message, dict) and message.get("jsonrpc") == "2.0", f"not a message on stdout: {raw[:200]!r}")
    return message


def run_once(command: list[str], *messages: dict[str, Any] | bytes) -> list[dict[str, Any]]:
    """Pipes the messages in, closes stdin, and gives every message that came back."""
    try:
        done = subprocess.run(
            command, input=b"".join(map(line, messages)), stdout=subprocess.PIPE, timeout=WAIT_BOUND, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"no exit within {WAIT_BOUND:g} s of the end of its input") from error
    check(done.returncode == 0, f"exit code {done.returncode}")
    check(done.stdout == b"" or done.stdout.endswith(b"\n"), f"the last line has no end: {done.stdout[-80:]!r}")
    return [parse(raw) for raw in done.stdout.splitlines()]


def answer(messages: list[dict[str, Any]], id: Any) -> dict[str, Any]:
    found = [m for m in messages if "id" in m and type(m["id"]) is type(id) and m["id"] == id]
    check(len(found) == 1, f"{len(found)} answers for id {id!r} in {str(messages)[:300]}")
    return found[0]


def result(messages: list[dict[str, Any]], id: Any) -> dict[str, Any]:
    got = answer(messages, id)
    check("result" in got and "error" not in got, f"id {id!r} answered {str(got)[:300]}")
    return got["result"]


def error(messages: list[dict[str, Any]], id: Any, code: int) -> dict[str, Any]:
    got = answer(messages, id)
    check("error" in got and "result" not in got, f"id {id!r} answered {str(got)[:300]}")
    check(got["error"].get("code") == code, f"id {id!r}: error {got['error']}, not {code}")
    check(isinstance(got["error"].get("message"), str), f"id {id!r}: error {got['error']}")
    return got["error"]


class Pipes:
    """A server with its stdin held open."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self.calls = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for raw in self.process.stdout:
            self.lines.put(raw)
        self.lines.put(None)

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join(WAIT_BOUND)
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, message: dict[str, Any] | bytes) -> None:
        self.process.stdin.write(line(message))
        self.process.stdin.flush()

    def next(self, deadline: float) -> dict[str, Any] | None:
        try:
            raw = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Failure("no message within the bound") from None
        if raw is None:
            return None
        message = parse(raw)
        self.seen.append(message)
        return message

    def structured(self, tool: str) -> dict[str, Any]:
        self.calls += 1
        id = f"{tool}-{self.calls}"
        self.send(call(id, tool, {}))
        deadline = time.monotonic() + WAIT_BOUND
        while True:
            message = self.next(deadline)
            check(message is not None, f"stdout ended before {tool} was answered")
            if message.get("id") == id:
                return result([message], id)["structuredContent"]

    def wait_until(self, tool: str, accept: Callable[[dict[str, Any]], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_BOUND
        while not accept(value := self.structured(tool)):
            check(time.monotonic() < deadline, f"{what}: still {value} after {WAIT_BOUND:g} s")
            time.sleep(POLL)

    def close(self, bound: float) -> None:
        """Closes stdin, takes what is left on stdout, and wants exit code 0 within the bound."""
        began = time.monotonic()
        self.process.stdin.close()
        try:
            code = self.process.wait(timeout=bound)
        except subprocess.TimeoutExpired:
            raise Failure(f"no exit within {bound:g} s of the end of its input") from None
        while self.next(began + bound + WAIT_BOUND) is not None:
            pass
        check(code == 0, f"exit code {code}")


@raw_step("pipes: two requests, then the end of input: both answered")
def two_requests(command: list[str]) -> None:
    got = run_once(command, call(1, "find_book", {"query": "rust"}), call(2, "monthly_report", {"month": "2026-06"}))
    result(got, 1)
    report = result(got, 2)
    check(report.get("structuredContent", {}).get("month") == "2026-06", f"report {report}")
    check(len(got) == 2, f"more than the two answers: {got}")


@raw_step("pipes: results carry resultType, lists carry their cache hints")
def result_fields(command: list[str]) -> None:
    got = run_once(
        command, request(1, "server/discover"), request(2, "tools/list"), call(3, "find_book", {"query": "rust"})
    )
    for id in (1, 2, 3):
        fields = result(got, id)
        check(fields.get("resultType") == "complete", f"id {id}: resultType {fields.get('resultType')!r}")
    for id in (1, 2):
        fields = result(got, id)
        ttl = fields.get("ttlMs")
        check(type(ttl) is int and ttl >= 0, f"id {id}: ttlMs {ttl!r}")
        check(fields.get("cacheScope") in ("public", "private"), f"id {id}: cacheScope {fields.get('cacheScope')!r}")
    found = result(got, 1)
    check(found.get("supportedVersions") == [VERSION], f"supportedVersions {found.get('supportedVersions')}")
    check(isinstance(found.get("capabilities", {}).get("tools"), dict), f"capabilities {found.get('capabilities')}")
    info = found.get("_meta", {}).get(PREFIX + "serverInfo", {})
    check(info.get("name") == "bookshop", f"serverInfo {info}")
    check(isinstance(result(got, 3).get("content"), list), f"content {result(got, 3)}")


@raw_step("pipes: a junk line, invalid UTF-8 and an over-long line cost only themselves")
def bad_lines(command: list[str]) -> None:
    got = run_once(
        command,
        call(1, "find_book", {"query": "rust"}),
        b"{junk",
        call(2, "find_book", {"query": "rust"}),
        line(call("utf8", "find_book", {"query": "caf#"})).rstrip(b"\n").replace(b"#", b"\xe9\xff"),
        call(3, "find_book", {"query": "rust"}),
        call("long", "find_book", {"query": "x" * OVERLONG}),
        call(4, "find_book", {"query": "rust"}),
    )
    for id in (1, 2, 3, 4):
        result(got, id)
    errors = [m for m in got if "error" in m]
    check(all("id" not in m for m in errors), f"errors with an id: {str(errors)[:300]}")
    codes = [m["error"].get("code") for m in errors]
    check(codes == [-32700] * 3, f"errors {codes}, not -32700 three times")
    check(len(got) == 7, f"{len(got)} messages, not 7: {str(got)[:300]}")


@raw_step('pipes: the ids 0 and "" are echoed')
def odd_ids(command: list[str]) -> None:
    got = run_once(command, call(0, "find_book", {"query": "rust"}), call("", "find_book", {"query": "rust"}))
    result(got, 0)
    result(got, "")
    check(len(got) == 2, f"{len(got)} messages: {got}")


@raw_step("pipes: a request without _meta is error -32602")
def no_meta(command: list[str]) -> None:
    got = run_once(
        command,
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "hold_status", "arguments": {}}},
        call(4, "find_book", {"query": "rust"}),
    )
    for id in (1, 2, 3):
        error(got, id, -32602)
    result(got, 4)


@raw_step("pipes: another protocol version is error -32022 naming the supported ones")
def other_version(command: list[str]) -> None:
    got = run_once(
        command,
        request(1, "server/discover", version="1999-12-31"),
        request(2, "tools/call", version="2025-11-25", name="find_book", arguments={"query": "rust"}),
    )
    for id, asked in ((1, "1999-12-31"), (2, "2025-11-25")):
        data = error(got, id, -32022).get("data")
        check(isinstance(data, dict), f"id {id}: data {data!r}")
        check(data.get("supported") == [VERSION], f"id {id}: data.supported {data.get('supported')!r}")
        check(data.get("requested") == asked, f"id {id}: data.requested {data.get('requested')!r}")


@raw_step("pipes: initialize is error -32022 naming the supported versions")
def initialize(command: list[str]) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pipes", "version": "1"}}
    got = run_once(
        command,
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        call(2, "find_book", {"query": "rust"}),
    )
    # The code of an unsupported revision, not of an unknown method: a client that speaks both then probes again.
    data = error(got, 1, -32022).get("data")
    check(data == {"supported": [VERSION], "requested": "2025-11-25"}, f"data {data!r}")
    result(got, 2)


@raw_step("pipes: arguments that are not an object are error -32602")
def arguments_not_object(command: list[str]) -> None:
    shapes: list[Any] = [[], "rust", 7]
    got = run_once(command, *(call(id, "find_book", shape) for id, shape in enumerate(shapes)))
    for id in range(len(shapes)):
        error(got, id, -32602)


@raw_step("pipes: an unknown method is error -32601")
def unknown_method(command: list[str]) -> None:
    got = run_once(command, request(1, "books/burn"), call(2, "find_book", {"query": "rust"}))
    error(got, 1, -32601)
    result(got, 2)


@raw_step("pipes: a cancelled call and a cancellation get no answer")
def cancel_unanswered(command: list[str]) -> None:
    with Pipes(command) as server:
        server.send(cancelled("never asked"))
        server.send(call("order", "order_book", {"isbn": "9780131103627", "copies": 1}))
        server.wait_until("hold_status", lambda now: now["held"] >= 1, "no hold was taken")
        server.send(cancelled("order"))
        server.wait_until(
            "hold_status",
            lambda now: now["held"] == 0 and now["released"] >= 1,
            "the cancelled order's hold was not released",
        )
        server.send(cancelled("order"))
        server.close(EXIT_GRACE)
        others = [m for m in server.seen if not str(m.get("id")).startswith("hold_status-")]
        check(not others, f"messages nobody asked for: {others}")


@raw_step("pipes: the end of input stops a waiting call")
def end_with_call(command: list[str]) -> None:
    with Pipes(command) as server:
        server.send(call("order", "order_book", {"isbn": "9780131103627", "copies": 1}))
        server.wait_until("hold_status", lambda now: now["held"] >= 1, "no hold was taken")
        server.close(EXIT_GRACE)


@raw_step("pipes: the end of input stops a blocking call")
def end_with_blocking_call(command: list[str]) -> None:
    with Pipes(command) as server:
        server.send(call("rebuild", "rebuild_index", {"books": MANY_BOOKS}))
        server.wait_until("index_status", lambda now: now["running"], "the rebuild did not start")
        server.close(EXIT_GRACE)


@raw_step("pipes: a state key that is none is refused at the start, and not repeated")
def wrong_key(command: list[str]) -> None:
    for key in ("", "7b" * 31, "7b" * 33, "7" * 63, "zz" * 32, "7b" * 31 + "+1"):
        environment = {**os.environ, "BOOKSHOP_STATE_KEY": key}
        done = subprocess.run(command, input=b"", capture_output=True, timeout=WAIT_BOUND, env=environment, check=False)
        said = done.stderr.decode()
        check(done.returncode not in (0, None) and done.stdout == b"", f"{key!r}: exit code {done.returncode}")
        check("BOOKSHOP_STATE_KEY" in said, f"{key!r}: said {said!r}")
        check(not key or key not in said, f"repeated the key: {said!r}")


def drive_with_pipes(command: list[str], tally: Tally) -> None:
    for name, step in RAW_STEPS:
        try:
            step(command)
        except Exception as failure:
            tally.record(name, failure)
        else:
            tally.record(name)
