"""A server to drive our client against, written with the Python package mcp: over stdio.

What it offers is what ../README.md lists; server.mjs offers the same.
"""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from typing import Annotated, Any

import anyio
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import (
    Context,
    Elicit,
    ElicitationResult,
    ListRoots,
    MCPServer,
    Resolve,
    Sample,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import AssistantMessage, Message, UserMessage
from mcp_types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ListRootsResult,
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
    ToolChoice,
)
from pydantic import BaseModel, Field

NOTES = ["amber", "birch", "cedar", "dune", "elder"]
PAGE = 2
PAGED = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


async def in_pages(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The package's own lists have one page each; this cuts them up."""
    member = PAGED.get(ctx.method)
    if member is None or ctx.request_id is None:
        return await call_next(ctx)
    params = dict(ctx.params or {})
    start = int(params.pop("cursor", "0"))
    result = await call_next(replace(ctx, params=params))
    assert isinstance(result, dict), "what comes here is as it goes onto the wire"
    whole, end = result[member], start + PAGE
    more = {"nextCursor": str(end)} if end < len(whole) else {}
    return {**result, member: whole[start:end], **more}


server = MCPServer(
    "workbench",
    version="1.0.0",
    instructions="For tests.",
    log_level="ERROR",
    cache_hints={"tools/list": CacheHint(ttl_ms=60_000, scope="public")},
    middleware=[in_pages],
)


# Calls.


class Sum(BaseModel):
    sum: int


class Keys(BaseModel):
    keys: list[str]


cancelled: list[str] = []


@server.tool(description="Adds two whole numbers.")
def add(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


@server.tool(structured_output=False)
async def count(to: int, ctx: Context) -> str:
    for n in range(1, to + 1):
        await ctx.report_progress(n, to, f"at {n}")
    return f"counted to {to}"


@server.tool(structured_output=False)
async def wait(key: str) -> str:
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled.append(key)
        raise
    return "never"


@server.tool(name="cancelled")
def which_were_cancelled() -> Keys:
    return Keys(keys=cancelled)


@server.tool(structured_output=False)
def fail() -> str:
    raise ToolError("on purpose")


@server.tool(structured_output=False)
async def say(ctx: Context) -> str:
    await ctx.log("debug", "quietly", logger_name="bench")
    await ctx.log("info", {"loud": False}, logger_name="bench")
    await ctx.log("warning", "loudly", logger_name="bench")
    return "said"


@server.tool(structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool()
def picture() -> CallToolResult:
    note = TextResourceContents(uri="note://birch", text="birch", mime_type="text/plain")
    return CallToolResult(
        content=[
            ImageContent(type="image", data="iVBORw==", mime_type="image/png"),
            ResourceLink(type="resource_link", uri="note://amber", name="amber"),
            EmbeddedResource(type="resource", resource=note),
        ]
    )


# Questions.


class Name(BaseModel):
    name: str = Field(min_length=2)
    seats: int = Field(default=2, ge=1, le=9)


class Sure(BaseModel):
    sure: bool


def whose() -> Elicit[Name]:
    return Elicit("For whom?", Name)


def really(ctx: Context, who: Annotated[Name, Resolve(whose)]) -> Elicit[Sure]:
    return Elicit(f"Really for {who.name}?", Sure)


def is_sure() -> Elicit[Sure]:
    return Elicit("Sure?", Sure)


def one_word() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="One word, please."))], max_tokens=10)


def a_use() -> Sample:
    tool = Tool(name="tide", input_schema={"type": "object", "properties": {"harbour": {"type": "string"}}})
    question = SamplingMessage(role="user", content=TextContent(type="text", text="When is high tide?"))
    return Sample([question], max_tokens=10, tools=[tool], tool_choice=ToolChoice(mode="required"))


def its_folders() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
def form(who: Annotated[ElicitationResult[Name], Resolve(whose)]) -> str:
    if who.action != "accept":
        return who.action
    return f"{who.data.seats} for {who.data.name}"


@server.tool(structured_output=False)
def link(ctx: Context) -> str | InputRequiredResult:
    answer = (ctx.input_responses or {}).get("visit")
    if not isinstance(answer, ElicitResult):
        visit = ElicitRequestURLParams(message="Link an account.", url="https://example.com/link?n=1")
        return InputRequiredResult(input_requests={"visit": ElicitRequest(params=visit)}, request_state="1")
    return f"{answer.action}, state {ctx.request_state}"


@server.tool(structured_output=False)
def think(thought: Annotated[CreateMessageResult, Resolve(one_word)]) -> str:
    return f"{thought.model}: {getattr(thought.content, 'text', '?')}"


@server.tool(structured_output=False)
def plan(use: Annotated[CreateMessageResultWithTools, Resolve(a_use)]) -> str:
    blocks = use.content if isinstance(use.content, list) else [use.content]
    return ", ".join(f"{block.name} {block.input['harbour']}" for block in blocks)


@server.tool(structured_output=False)
def folders(known: Annotated[ListRootsResult, Resolve(its_folders)]) -> str:
    return ",".join(str(root.uri) for root in known.roots)


@server.tool(structured_output=False)
def survey(who: Annotated[Name, Resolve(whose)], sure: Annotated[Sure, Resolve(really)]) -> str:
    """Two rounds: what the first gave is in the state of the second."""
    return f"{who.name}: {str(sure.sure).lower()}"


@server.tool(structured_output=False)
def both(sure: Annotated[Sure, Resolve(is_sure)], known: Annotated[ListRootsResult, Resolve(its_folders)]) -> str:
    """Two questions in one round."""
    return f"{str(sure.sure).lower()}, {len(known.roots)} folders"


@server.tool(structured_output=False)
def later(ctx: Context) -> str | InputRequiredResult:
    """Comes back once with state alone."""
    if ctx.request_state is None:
        return InputRequiredResult(request_state="again")
    return "now"


# What a well-behaved server does not do. (Ending its subscriptions properly it cannot: the package keeps to itself what does.)


@server.tool(structured_output=False)
def mutter() -> str:
    os.write(1, b'this is not a message\n\n{"neither": "is this"}\n')
    os.write(2, b"a long complaint\n" * 60_000)
    return "muttered"


@server.tool(structured_output=False)
def crash() -> str:
    os.write(2, b"out of tea\n")
    os._exit(3)


@server.tool(structured_output=False)
async def cling(deaf: bool) -> str:
    """Does not exit at the end of its input; nor when it is terminated, if it is deaf."""
    threading.Thread(target=threading.Event().wait).start()
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return "clinging"


# Changes.


@server.tool(structured_output=False)
async def touch(note: str, ctx: Context) -> str:
    await ctx.notify_resource_updated(f"note://{note}")
    return "touched"


def late() -> str:
    return "here"


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    server.add_tool(late, structured_output=False)
    await ctx.notify_tools_changed()
    return "grown"


# Prompts, resources, completion.


@server.prompt(description="Says hello.")
def greet(name: str) -> list[Message]:
    return [UserMessage(f"Greet {name}."), AssistantMessage(f"Hello {name}!")]


@server.prompt()
def ask_first(ctx: Context) -> list[Message] | InputRequiredResult:
    answer = (ctx.input_responses or {}).get("sure")
    if not isinstance(answer, ElicitResult):
        schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
        asked = ElicitRequestFormParams(message="Sure?", requested_schema=schema)
        return InputRequiredResult(input_requests={"sure": ElicitRequest(params=asked)})
    return [UserMessage(f"sure: {str((answer.content or {}).get('sure')).lower()}")]


def add_note(note: str) -> None:
    @server.resource(f"note://{note}", name=note, mime_type="text/plain")
    def read() -> str:
        return f"about {note}"


for each in NOTES:
    add_note(each)


@server.resource("image://dot", name="dot", mime_type="image/png")
def dot() -> bytes:
    return b"\x89PNG"


@server.resource("box://{number}", name="box")
def box(number: str) -> str:
    return f"box {number}"


@server.completion()
async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion | None:
    if isinstance(ref, PromptReference):
        values = [note for note in NOTES if note.startswith(argument.value)]
    else:
        values = ["1", "2"]
    return Completion(values=values, total=len(values), has_more=False)


if __name__ == "__main__":
    server.run("stdio")
