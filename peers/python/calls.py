"""Tools: listing, calling, progress, cancelling, failing, many at once."""

from __future__ import annotations

import json
from typing import Any

import anyio
from jsonschema import Draft202012Validator
from mcp import Client, MCPError

from support import POLL, VERSION, check, Failure, sdk_step, still_answers, structured, texts, wait_until

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

# So many books that the rebuild is still running when it is cancelled.
MANY_BOOKS = 1_000_000


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
