"""What can be read and listened to: prompts, completion, resources, log messages, subscriptions."""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged

from support import PREFIX, WAIT_BOUND, WINTER, check, refused, sdk_step, structured, texts

BOOK = "9780131103627"
PRICES = "shop://prices"
LOGGED: list[types.LoggingMessageNotificationParams] = []


async def on_log(message: types.LoggingMessageNotificationParams) -> None:
    LOGGED.append(message)


@sdk_step("prompts are listed, got and refused")
async def prompts(client: Client) -> None:
    listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    check(listed.keys() >= {"recommend", "review"}, f"prompts {sorted(listed)}")
    arguments = {argument.name: bool(argument.required) for argument in listed["recommend"].arguments}
    check(arguments == {"author": True, "mood": False}, f"arguments {arguments}")
    got = await client.get_prompt("recommend", {"author": "Klabnik, Nichols", "mood": "tired"})
    kinds = [message.content.type for message in got.messages]
    check(kinds == ["text", "resource_link"], f"messages {got.messages}")
    check("tired" in got.messages[0].content.text, f"messages {got.messages}")
    check(got.messages[1].content.uri == "book://9781718503106", f"messages {got.messages}")
    await refused(client.get_prompt("recommend", {"mood": "tired"}), -32602)
    await refused(client.get_prompt("review", {"isbn": "1"}), -32602)
    await refused(client.get_prompt("burn", {}), -32602)


@sdk_step("arguments of prompts and variables of templates are completed")
async def completion(client: Client) -> None:
    async def values(ref: Any, name: str, begun: str) -> list[str]:
        return (await client.complete(ref, {"name": name, "value": begun})).completion.values

    recommend = types.PromptReference(name="recommend")
    check(await values(recommend, "author", "k") == ["Kernighan, Ritchie", "Klabnik, Nichols"], "of author")
    check(await values(recommend, "mood", "zz") == [], "of mood")
    template = types.ResourceTemplateReference(uri="book://{isbn}")
    check(await values(template, "isbn", "97817") == ["9781718503106"], "of isbn")
    unknown = types.PromptReference(name="burn")
    await refused(client.complete(unknown, {"name": "author", "value": ""}), -32602)


@sdk_step("resources and templates are listed and read")
async def resources(client: Client) -> None:
    listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
    check(PRICES in listed, f"resources {sorted(listed)}")
    check(listed[PRICES].mime_type == "application/json", f"resource {listed[PRICES]}")
    templates = {each.uri_template for each in (await client.list_resource_templates()).resource_templates}
    check(templates >= {"book://{isbn}", "cover://{isbn}", "invoice://{number}"}, f"templates {templates}")

    prices = await client.read_resource(PRICES)
    check((prices.ttl_ms, prices.cache_scope) == (60_000, "public"), f"hints {prices.ttl_ms} {prices.cache_scope}")
    check(len(json.loads(prices.contents[0].text)) == 5, f"prices {prices.contents}")
    book = (await client.read_resource(f"book://{BOOK}")).contents[0]
    check((book.uri, book.mime_type) == (f"book://{BOOK}", "application/json"), f"book {book}")
    check(json.loads(book.text)["title"] == "The C Programming Language", f"book {book}")
    cover = (await client.read_resource(f"cover://{BOOK}")).contents[0]
    check(cover.mime_type == "image/png", f"cover {cover}")
    check(base64.b64decode(cover.blob).startswith(b"\x89PNG\r\n"), f"cover {cover}")
    for unknown in ("book://1", "shop://nothing", "book://9780131103627/pages"):
        error = await refused(client.read_resource(unknown), -32602)
        check(error.data == {"uri": unknown}, f"data {error.data}")


async def listen_until(subscription: Any, count: int) -> list[Any]:
    events = []
    with anyio.fail_after(WAIT_BOUND):
        async for event in subscription:
            events.append(event)
            if len(events) == count:
                break
    return events


@sdk_step("a subscription hears of the resources it asked for, and the cache lets go of them")
async def subscription(client: Client) -> None:
    async def price() -> int:
        prices = json.loads((await client.read_resource(PRICES)).contents[0].text)
        return next(line["cents"] for line in prices if line["isbn"] == BOOK)

    before = await price()
    async with client.listen(resource_subscriptions=[PRICES]) as prices:
        check(prices.honored.resource_subscriptions == [PRICES], f"honoured {prices.honored}")
        async with client.listen(resource_subscriptions=["invoice://INV-heard"]) as invoice:
            result = await client.call_tool("set_price", {"isbn": BOOK, "cents": before + 1})
            check(not result.is_error, f"tool error: {texts(result)}")
            await structured(client, "refund", {"invoice": "INV-unheard", "cents": 1})
            await structured(client, "refund", {"invoice": "INV-heard", "cents": 1})
            heard = await listen_until(invoice, 1)
            check(heard == [ResourceUpdated(uri="invoice://INV-heard")], f"heard {heard}")
        heard = await listen_until(prices, 1)
        check(heard == [ResourceUpdated(uri=PRICES)], f"heard {heard}")
        check(await price() == before + 1, "the new price is not told")

    async with client.listen(resource_subscriptions=[PRICES, "invoice://INV-after"]) as both:
        # A mutation that failed made nothing stale: what is heard first is about the success after it.
        result = await client.call_tool("set_price", {"isbn": "1", "cents": 1})
        check(result.is_error is True, f"answered {texts(result)}")
        await structured(client, "refund", {"invoice": "INV-after", "cents": 1})
        await client.call_tool("set_price", {"isbn": BOOK, "cents": before})
        heard = await listen_until(both, 2)
        want = [ResourceUpdated(uri="invoice://INV-after"), ResourceUpdated(uri=PRICES)]
        check(heard == want, f"heard {heard}")
        check(await price() == before, "the price as it was is not told")


@sdk_step("offers come and go while the server serves, and those who listen to the lists are told")
async def season(client: Client) -> None:
    async def offered() -> tuple[bool, bool, bool]:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        resources = {resource.uri for resource in (await client.list_resources()).resources}
        return "winter_offer" in tools, "winter_letter" in prompts, "shop://winter" in resources

    everything = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
    changes = {ToolsListChanged(), PromptsListChanged(), ResourcesListChanged()}
    for capability in (client.server_capabilities.tools, client.server_capabilities.prompts):
        check(capability is not None and capability.list_changed is True, f"capability {capability}")
    check(await offered() == (False, False, False), "offered out of season")
    await refused(client.call_tool("winter_offer", {"isbn": BOOK}), -32602)
    async with client.listen(**everything) as all_lists, client.listen(prompts_list_changed=True) as prompts:
        try:
            WINTER.touch()
            heard = await listen_until(all_lists, 3)
            check(set(heard) == changes, f"heard {heard}")
            check(await offered() == (True, True, True), "not offered in season")
            offer = await structured(client, "winter_offer", {"isbn": BOOK})
            check(offer["title"] == "The C Programming Language", f"offer {offer}")
            letter = await client.get_prompt("winter_letter")
            check("winter" in letter.messages[0].content.text, f"prompt {letter}")
            winter = await client.read_resource("shop://winter")
            check("Rust" in winter.contents[0].text, f"resource {winter}")
            WINTER.unlink()
            heard = await listen_until(all_lists, 3)
            check(set(heard) == changes, f"heard {heard}")
            check(await listen_until(prompts, 1) == [PromptsListChanged()], "of prompts alone")
        finally:
            WINTER.unlink(missing_ok=True)
    check(await offered() == (False, False, False), "still offered")
    await refused(client.call_tool("winter_offer", {"isbn": BOOK}), -32602)


@sdk_step("log messages come for requests that ask for their level, and for no others")
async def logging(client: Client) -> None:
    async def refund(level: str | None) -> list[tuple[str, Any]]:
        LOGGED.clear()
        meta: Any = {PREFIX + "logLevel": level} if level else None
        result = await client.call_tool("refund", {"invoice": "INV-log", "cents": 100}, meta=meta)
        check(not result.is_error, f"tool error: {texts(result)}")
        return [(message.level, message.logger, message.data) for message in LOGGED]

    check(await refund(None) == [], f"logged {LOGGED}")
    check(await refund("warning") == [], f"logged {LOGGED}")
    logged = await refund("info")
    check(logged == [("info", "till", "1.00 EUR paid back on INV-log")], f"logged {logged}")
