"""What every part of the drive stands on: checks, bounds, steps, a server whose exit is watched."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any, Awaitable, Callable

import anyio
from mcp import Client, MCPError, StdioServerParameters

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


# It is winter for the servers of this drive while this file exists.
WINTER = Path(tempfile.gettempdir()) / f"bookshop-winter-{os.getpid()}"

# Seconds. A step, and a wait for one condition inside it, never take longer.
STEP_BOUND = 15.0
WAIT_BOUND = 5.0
POLL = 0.02
# The SDK's client waits this long after it has closed the server's stdin, then sends SIGTERM.
EXIT_GRACE = 2.0


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


SDK_STEPS: list[tuple[str, Callable[[Client], Awaitable[None]]]] = []


def sdk_step(name: str) -> Callable[[Callable[[Client], Awaitable[None]]], Callable[[Client], Awaitable[None]]]:
    def register(step: Callable[[Client], Awaitable[None]]) -> Callable[[Client], Awaitable[None]]:
        SDK_STEPS.append((name, step))
        return step

    return register


# Steps that start servers and clients of their own.
OWN_STEPS: list[tuple[str, Callable[[list[str]], Awaitable[None]]]] = []


def own_step(name: str) -> Callable[[Callable[[list[str]], Awaitable[None]]], Callable[[list[str]], Awaitable[None]]]:
    def register(step: Callable[[list[str]], Awaitable[None]]) -> Callable[[list[str]], Awaitable[None]]:
        OWN_STEPS.append((name, step))
        return step

    return register


def server(command: list[str], **environment: str) -> StdioServerParameters:
    return StdioServerParameters(command=command[0], args=command[1:], env=environment or None)


async def refused(call: Awaitable[Any], code: int) -> MCPError:
    """The error that a call has to end with."""
    try:
        answer = await call
    except MCPError as error:
        check(error.code == code, f"error {error.code}: {error.message}, not {code}")
        return error
    raise Failure(f"answered {answer}")


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


class Watched:
    """A server command whose exit status is written down: the SDK's client does not tell it."""

    # The trap keeps the shell alive when the client terminates the whole process group, so the status is still written.
    SCRIPT = 'trap : TERM; status=$1; shift; "$@"; echo $? >"$status"'

    def __init__(self, command: list[str], folder: Path) -> None:
        self.status = folder / "exit-status"
        self.status.unlink(missing_ok=True)
        self.parameters = StdioServerParameters(
            command="/bin/sh",
            args=["-c", self.SCRIPT, "sh", str(self.status), *command],
            env={"BOOKSHOP_WINTER": str(WINTER)},
        )
        self.closing = 0.0

    def check_exit(self) -> None:
        took = time.monotonic() - self.closing
        check(self.status.exists(), f"the server was killed {took:.1f} s after its stdin was closed")
        status = self.status.read_text().strip()
        check(status == "0", f"exit status {status}, {took:.1f} s after its stdin was closed")
        check(took < EXIT_GRACE, f"took {took:.1f} s to exit after its stdin was closed")
