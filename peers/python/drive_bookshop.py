#!/usr/bin/env python3
"""Drives the `bookshop` example over stdio: first with the Python SDK's client, then with bare pipes.

Usage: drive_bookshop.py SERVER [ARGUMENT...]

One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`; exit code 0 when nothing failed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Awaitable, Callable

import anyio
from mcp import Client

import reading
import rounds
from calls import hold_status
from raw_pipes import drive_with_pipes
from support import OWN_STEPS, SDK_STEPS, STEP_BOUND, VERSION, Failure, Tally, Watched, check, reason_of, still_answers


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
            watched.parameters,
            message_handler=on_message,
            logging_callback=reading.on_log,
            read_timeout_seconds=STEP_BOUND,
            **rounds.PERSON.callbacks(),
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
    for name, step in OWN_STEPS:
        await run_sdk_step(tally, name, lambda step=step: step(command))


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
