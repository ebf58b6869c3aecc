#!/usr/bin/env python3
"""Drives the `bookshop` example over stdio: first with the Python SDK's client, then with bare pipes.

Usage: drive_bookshop.py SERVER [ARGUMENT...]

One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`; exit code 0 when nothing failed.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Awaitable, Callable

import anyio
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"

# What each tool must declare: whether its results are structured.
TOOLS = {
    "find_book": False,
    "monthly_report": True,
    "order_book": False,
    "hold_status": True,
    "rebuild_index": True,
    "index_status": True,
    "refund": True,
}

# Seconds. A step, and a wait for one condition inside it, never take longer.
STEP_BOUND = 15.0
WAIT_BOUND = 5.0
POLL = 0.02
# The SDK's client waits this long after it has closed the server's stdin, then sends SIGTERM.
EXIT_GRACE = 2.0

# So many books that the rebuild is still running when it is cancelled.
MANY_BOOKS = 1_000_000
OVERLONG = 5 * 1024 * 1024


class Failure(Exception):
    """A check did not hold; the text is the reason."""


def check(condition: bool, reason: str) -> None:
    if not condition:
        raise Failure(reason)


def reason_of(error: BaseException) -> str:
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]  # type: ignore[attr-defined]
    if isinstance(error, Failure):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"did not finish within {STEP_BOUND:g} s"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:400]


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0

    def record(self, name: str, error: BaseException | None = None) -> None:
        if error is None:
            self.passed += 1
            print(f"PASS {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL {name}: {reason_of(error)}", flush=True)


# ---------------------------------------------------------------------------------------------------------------------
# With the SDK's client
# ---------------------------------------------------------------------------------------------------------------------

SDK_STEPS: list[tuple[str, Callable[[Client], Awaitable[None]]]] = []


def sdk_step(name: str) -> Callable[[Callable[[Client], Awaitable[None]]], Callable[[Client], Awaitable[None]]]:
    def register(step: Callable[[Client], Awaitable[None]]) -> Callable[[Client], Awaitable[None]]:
        SDK_STEPS.append((name, step))
        return step

    return register


def texts(result: Any) -> list[str]:
    return [block.text for block in result.content if block.type == "text"]


async def structured(client: Client, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Calls a tool; the client has validated what comes back against the tool's output schema."""
    result = await client.call_tool(tool, arguments, **options)
    check(not result.is_error, f"{tool} answered a tool error: {texts(result)}")
    content = result.structured_content
    check(isinstance(content, dict), f"{tool} answered structured content {content!r}")
    return content


async def wait_until(
    read: Callable[[], Awaitable[dict[str, Any]]], accept: Callable[[dict[str, Any]], bool], what: str
) -> dict[str, Any]:
    deadline = time.monotonic() + WAIT_BOUND
    while True:
        value = await read()
        if accept(value):
            return value
        check(time.monotonic() < deadline, f"{what}: still {value} after {WAIT_BOUND:g} s")
        await anyio.sleep(POLL)


async def still_answers(client: Client) -> None:
    result = await client.call_tool("find_book", {"query": "rust"})
    check(not result.is_error, f"the next call failed: {texts(result)}")


@sdk_step("discover names the server, the revision and the tools capability")
async def discover(client: Client) -> None:
    check(client.protocol_version == VERSION, f"negotiated {client.protocol_version}")
    found = client.session.discover_result
    check(found is not None, "the client fell back to initialize")
    check(VERSION in found.supported_versions, f"supportedVersions {found.supported_versions}")
    check(client.server_info is not None, "no serverInfo in the result's _meta")
    check(client.server_info.name == "bookshop", f"server name {client.server_info.name!r}")
    check(bool(client.server_info.version), "empty server version")
    check(client.server_capabilities.tools is not None, "no tools capability")


@sdk_step("list gives every tool with its schemas")
async def list_tools(client: Client) -> None:
    tools: dict[str, Any] = {}
    cursor: str | None = None
    for _ in range(100):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            check(tool.name not in tools, f"{tool.name} listed twice")
            tools[tool.name] = tool
        cursor = page.next_cursor
        if cursor is None:
            break
    check(cursor is None, "the listing does not end")
    missing = sorted(TOOLS.keys() - tools.keys())
    check(not missing, f"not listed: {', '.join(missing)}")
    for name, has_output in TOOLS.items():
        tool = tools[name]
        check(tool.input_schema.get("type") == "object", f"{name}: inputSchema {tool.input_schema}")
        Draft202012Validator.check_schema(tool.input_schema)
        if has_output:
            check(tool.output_schema is not None, f"{name}: no outputSchema")
            check(tool.output_schema.get("type") == "object", f"{name}: outputSchema {tool.output_schema}")
            Draft202012Validator.check_schema(tool.output_schema)


@sdk_step("a call answers text")
async def call_text(client: Client) -> None:
    result = await client.call_tool("find_book", {"query": "rust"})
    check(not result.is_error, f"tool error: {texts(result)}")
    check(any(text.strip() for text in texts(result)), f"content {result.content}")
    check(result.structured_content is None, f"structured content {result.structured_content}")


@sdk_step("a structured result fits its schema and has a text mirror")
async def call_structured(client: Client) -> None:
    result = await client.call_tool("monthly_report", {"month": "2026-06"})
    check(not result.is_error, f"tool error: {texts(result)}")
    report = result.structured_content
    check(isinstance(report, dict), f"structured content {report!r}")
    check(report.get("month") == "2026-06", f"month {report.get('month')!r}")
    for field in ("orders", "revenue_cents"):
        check(type(report.get(field)) is int, f"{field} {report.get(field)!r}")
    mirrors = []
    for text in texts(result):
        try:
            mirrors.append(json.loads(text))
        except ValueError:
            continue
    check(report in mirrors, f"no text block mirrors {report}: {texts(result)}")


@sdk_step("progress arrives in order with its messages")
async def progress(client: Client) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        seen.append((value, total, message))

    await structured(client, "monthly_report", {"month": "2026-06"}, progress_callback=on_progress)
    check(seen == [(30.0, 100.0, "rows"), (90.0, 100.0, "totals")], f"progress {seen}")


async def hold_status(client: Client) -> dict[str, Any]:
    return await structured(client, "hold_status", {})


async def hold_released(client: Client, before: dict[str, Any]) -> None:
    await wait_until(
        lambda: hold_status(client),
        lambda now: now["released"] > before["released"] and now["held"] == before["held"],
        "the cancelled order's hold was not released",
    )


@sdk_step("cancelling a call runs its cleanup")
async def cancel_order(client: Client) -> None:
    before = await hold_status(client)
    check(before["held"] == 0, f"a hold before any order: {before}")
    answers: list[Any] = []
    scope = anyio.CancelScope()

    async def order() -> None:
        with scope:
            answers.append(await client.call_tool("order_book", {"isbn": "9780131103627", "copies": 2}))

    async with anyio.create_task_group() as group:
        group.start_soon(order)
        await wait_until(lambda: hold_status(client), lambda now: now["held"] >= 1, "no hold was taken")
        check(not answers, f"answered before it was cancelled: {answers}")
        scope.cancel()
    check(not answers, f"answered before it was cancelled: {answers}")
    await hold_released(client, before)
    await still_answers(client)


@sdk_step("a call the client gives up on by timeout is cancelled too")
async def timeout_order(client: Client) -> None:
    before = await hold_status(client)
    try:
        result = await client.call_tool("order_book", {"isbn": "9780131103627", "copies": 1}, read_timeout_seconds=0.3)
    except MCPError as error:
        check(error.code == -32001, f"error {error.code}: {error.message}")
    else:
        raise Failure(f"answered at once: {result}")
    await hold_released(client, before)
    await still_answers(client)


@sdk_step("cancelling a blocking call stops it between two books")
async def cancel_rebuild(client: Client) -> None:
    async def status() -> dict[str, Any]:
        return await structured(client, "index_status", {})

    answers: list[Any] = []
    scope = anyio.CancelScope()

    async def rebuild() -> None:
        with scope:
            answers.append(await client.call_tool("rebuild_index", {"books": MANY_BOOKS}))

    async with anyio.create_task_group() as group:
        group.start_soon(rebuild)
        await wait_until(status, lambda now: now["running"] and now["indexed"] >= 1, "the rebuild did not start")
        await still_answers(client)
        check(not answers, f"answered before it was cancelled: {answers}")
        scope.cancel()
    stopped = await wait_until(status, lambda now: not now["running"], "the rebuild did not stop")
    check(stopped["indexed"] < MANY_BOOKS, f"the rebuild ran to its end: {stopped}")
    await anyio.sleep(2 * POLL)
    later = await status()
    check(later == stopped, f"still at work after it stopped: {stopped}, then {later}")


@sdk_step("a short rebuild finishes with its count")
async def short_rebuild(client: Client) -> None:
    done = await structured(client, "rebuild_index", {"books": 3})
    check(done == {"indexed": 3}, f"result {done}")


@sdk_step("a tool's failure is a result with isError")
async def tool_error(client: Client) -> None:
    result = await client.call_tool("find_book", {"query": "nothing"})
    check(result.is_error is True, f"isError {result.is_error}")
    check(any("no book" in text.lower() for text in texts(result)), f"text {texts(result)}")


@sdk_step("an unknown tool is error -32602")
async def unknown_tool(client: Client) -> None:
    try:
        result = await client.call_tool("burn_book", {})
    except MCPError as error:
        check(error.code == -32602, f"error {error.code}: {error.message}")
    else:
        raise Failure(f"answered {result}")


@sdk_step("arguments of the wrong type are a result with isError")
async def wrong_arguments(client: Client) -> None:
    for tool, arguments in (
        ("find_book", {"query": 7}),
        ("refund", {"invoice": "INV-1", "cents": "ten"}),
        ("order_book", {"isbn": "9780131103627", "copies": [1]}),
    ):
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            raise Failure(f"{tool} {arguments}: error {error.code}: {error.message}") from error
        check(result.is_error is True, f"{tool} {arguments}: isError {result.is_error}")
        check(any(text.strip() for text in texts(result)), f"{tool} {arguments}: no text says what was wrong")


@sdk_step("200 calls at once are each answered with their own answer")
async def many_calls(client: Client) -> None:
    answered = 0

    async def refund(number: int) -> None:
        nonlocal answered
        got = await structured(client, "refund", {"invoice": f"INV-many-{number}", "cents": 100 + number})
        want = {"invoice": f"INV-many-{number}", "refunded_cents": 100 + number}
        check(got == want, f"refund answered {got}, not {want}")
        answered += 1

    async def report(number: int) -> None:
        nonlocal answered
        month = f"{2001 + number // 12}-{number % 12 + 1:02}"
        seen: list[float] = []

        async def on_progress(value: float, _total: float | None, _message: str | None) -> None:
            seen.append(value)

        got = await structured(client, "monthly_report", {"month": month}, progress_callback=on_progress)
        check(got["month"] == month, f"the report for {month} is about {got['month']}")
        check(seen == [30.0, 90.0], f"progress of the report for {month}: {seen}")
        answered += 1

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(refund, number)
            group.start_soon(report, number)
    check(answered == 200, f"{answered} of 200 answered")


@sdk_step("two refunds on one invoice at once are both made")
async def two_refunds(client: Client) -> None:
    got: list[int] = []

    async def refund(cents: int) -> None:
        result = await structured(client, "refund", {"invoice": "INV-twice", "cents": cents})
        check(result["invoice"] == "INV-twice", f"refund answered for {result['invoice']!r}")
        got.append(result["refunded_cents"])

    async with anyio.create_task_group() as group:
        group.start_soon(refund, 100)
        group.start_soon(refund, 250)
    both = sorted(got)
    # A third one tells which of the two the server counts: this refund's cents, or the invoice's so far.
    await refund(5)
    last = got[-1]
    if last == 5:
        check(both == [100, 250], f"refunded_cents {both}")
    else:
        check(last == 355, f"refunded_cents {both}, then {last}: one of the refunds is lost")
        check(both in ([100, 350], [250, 350]), f"refunded_cents {both}: not one at a time")


class Watched:
    """A server command whose exit status is written down: the SDK's client does not tell it."""

    # The trap keeps the shell alive when the client terminates the whole process group, so the status is still written.
    SCRIPT = 'trap : TERM; status=$1; shift; "$@"; echo $? >"$status"'

    def __init__(self, command: list[str], folder: Path) -> None:
        self.status = folder / "exit-status"
        self.status.unlink(missing_ok=True)
        self.parameters = StdioServerParameters(
            command="/bin/sh", args=["-c", self.SCRIPT, "sh", str(self.status), *command]
        )
        self.closing = 0.0

    def check_exit(self) -> None:
        took = time.monotonic() - self.closing
        check(self.status.exists(), f"the server was killed {took:.1f} s after its stdin was closed")
        status = self.status.read_text().strip()
        check(status == "0", f"exit status {status}, {took:.1f} s after its stdin was closed")
        check(took < EXIT_GRACE, f"took {took:.1f} s to exit after its stdin was closed")


async def run_sdk_step(tally: Tally, name: str, step: Callable[[], Awaitable[None]]) -> None:
    try:
        with anyio.fail_after(STEP_BOUND):
            await step()
    except Exception as error:
        tally.record(name, error)
    else:
        tally.record(name)


async def drive_with_sdk(command: list[str], folder: Path, tally: Tally) -> None:
    unreadable: list[str] = []
    connected: BaseException | None = Failure("never connected")

    async def on_message(message: Any) -> None:
        if isinstance(message, Exception):
            unreadable.append(reason_of(message))

    watched = Watched(command, folder)
    done = 0
    try:
        async with Client(
            watched.parameters, message_handler=on_message, read_timeout_seconds=STEP_BOUND
        ) as client:
            connected = None
            for name, step in SDK_STEPS:
                await run_sdk_step(tally, name, lambda step=step: step(client))
                done += 1
            watched.closing = time.monotonic()
    except Exception as error:
        connected = connected and error
        for name, _ in SDK_STEPS[done:]:
            tally.record(name, Failure(f"no connection: {reason_of(error)}"))

    async def readable() -> None:
        check(connected is None, "no connection")
        check(not unreadable, f"the client could not read {len(unreadable)} messages, first {unreadable[:1]}")

    async def shutdown() -> None:
        check(connected is None, "no connection")
        watched.check_exit()

    await run_sdk_step(tally, "the client could read every message", readable)
    await run_sdk_step(tally, "the server exits with 0 when the client closes its stdin", shutdown)

    async def pinned() -> None:
        again = Watched(command, folder)
        async with Client(again.parameters, mode=VERSION, read_timeout_seconds=STEP_BOUND) as client:
            await still_answers(client)
            check((await hold_status(client))["held"] == 0, "a hold in a fresh server")
            again.closing = time.monotonic()
        again.check_exit()

    await run_sdk_step(tally, "a client that pins the revision needs no discover", pinned)


# ---------------------------------------------------------------------------------------------------------------------
# With bare pipes
# ---------------------------------------------------------------------------------------------------------------------

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


def drive_with_pipes(command: list[str], tally: Tally) -> None:
    for name, step in RAW_STEPS:
        try:
            step(command)
        except Exception as failure:
            tally.record(name, failure)
        else:
            tally.record(name)


def main() -> int:
    command = sys.argv[1:]
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(drive_with_sdk, command, Path(folder), tally)
    drive_with_pipes(command, tally)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
