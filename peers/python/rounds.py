"""Questions in the middle of a call: forms, visits, sampling and roots, and what must not pass."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.context import ClientRequestContext

from support import STEP_BOUND, Failure, check, own_step, refused, sdk_step, server, still_answers, structured, texts

BOOK = "9781718503106"
ROOT = "file:///home/reader/books"
# Any key; that it is written down here makes it one for tests alone.
KEY = "7b" * 32
MISSING_CAPABILITY = -32021
ROUNDS_EXCEEDED = 1002


def accept(**content: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content=content)


DECLINE = types.ElicitResult(action="decline")
CANCEL = types.ElicitResult(action="cancel")


class Person:
    """Answers questions in the order in which it was told to, and notes what it was asked."""

    def __init__(self) -> None:
        self.says: list[types.ElicitResult] = []
        self.asked: list[types.ElicitRequestParams] = []
        self.others: list[str] = []
        # When set, a question is noted and never answered.
        self.silent = False

    def will_say(self, *says: types.ElicitResult) -> None:
        self.says = list(says)
        self.asked = []
        self.others = []
        self.silent = False

    def messages(self) -> list[str]:
        return [asked.message for asked in self.asked]

    async def elicit(self, _: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params)
        if self.silent:
            await anyio.sleep_forever()
        check(bool(self.says), f"asked once too often: {params.message}")
        return self.says.pop(0)

    async def sample(
        self, _: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        self.others.append("sampling")
        text = params.messages[0].content
        check(isinstance(text, types.TextContent) and "Rust" in text.text, f"sampling of {text}")
        content = types.TextContent(type="text", text="It compiles, and so will you.")
        return types.CreateMessageResult(role="assistant", content=content, model="small-1")

    async def roots(self, _: ClientRequestContext) -> types.ListRootsResult:
        self.others.append("roots")
        return types.ListRootsResult(roots=[types.Root(uri=ROOT)])

    def callbacks(self) -> dict[str, Any]:
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.roots,
        }


PERSON = Person()


async def refunded(client: Client, invoice: str) -> str:
    read = await client.read_resource(f"invoice://{invoice}")
    return read.contents[0].text


@sdk_step("a form is accepted, and the call goes on with what was filled in")
async def form_accepted(client: Client) -> None:
    PERSON.will_say(accept(approved=True, reason="came damaged"))
    done = await structured(client, "refund", {"invoice": "INV-ask", "cents": 12_000})
    check(done == {"invoice": "INV-ask", "refunded_cents": 12_000}, f"refund {done}")
    check(PERSON.messages() == ["Refund 120.00 EUR on invoice INV-ask?"], f"asked {PERSON.messages()}")
    form = PERSON.asked[0]
    check(isinstance(form, types.ElicitRequestFormParams), f"asked {form}")
    schema = form.requested_schema
    check(schema["properties"]["approved"]["type"] == "boolean", f"schema {schema}")
    check(schema["required"] == ["approved"], f"schema {schema}")


@sdk_step("a form is declined, cancelled, or answered with no: three different things")
async def form_declined(client: Client) -> None:
    told = []
    for says in (DECLINE, CANCEL, accept(approved=False)):
        PERSON.will_say(says)
        result = await client.call_tool("refund", {"invoice": "INV-no", "cents": 7_000})
        check(result.is_error is True, f"{says.action}: isError {result.is_error}")
        check(len(PERSON.asked) == 1, f"{says.action}: asked {PERSON.messages()}")
        told += texts(result)
    check("not approved" in told[0] and told[0] == told[2], f"told {told}")
    check("Nobody decided" in told[1], f"told {told}")
    balance = await refunded(client, "INV-no")
    check('"refunded_cents":0' in balance, f"invoice {balance}")


@sdk_step("an answer that does not fit its form is asked again, not passed on")
async def form_misfit(client: Client) -> None:
    PERSON.will_say(accept(approved="perhaps"), accept(), accept(approved=True))
    done = await structured(client, "refund", {"invoice": "INV-misfit", "cents": 5_001})
    check(done["refunded_cents"] == 5_001, f"refund {done}")
    check(len(PERSON.asked) == 3, f"asked {PERSON.messages()}")


@sdk_step("a person is sent to a URL, which is the same at the next entry")
async def visit(client: Client) -> None:
    PERSON.will_say(types.ElicitResult(action="accept"))
    result = await client.call_tool("link_account", {})
    check(not result.is_error, f"tool error: {texts(result)}")
    asked = PERSON.asked[0]
    check(isinstance(asked, types.ElicitRequestURLParams), f"asked {asked}")
    check(asked.url.startswith("https://bookshop.example/link?code="), f"url {asked.url}")
    code = asked.url.split("code=")[1]
    check(any(f"Link {code} " in text for text in texts(result)), f"told {texts(result)}")
    PERSON.will_say(DECLINE)
    result = await client.call_tool("link_account", {})
    check(result.is_error is True, f"declined: {texts(result)}")


def gift_answers() -> list[types.ElicitResult]:
    return [
        accept(name="Ann", email="ann@example.org"),
        accept(paper="gold", ribbon=False),
        accept(text="Happy birthday!", deliver="2026-12-24"),
    ]


def check_gift(gift: dict[str, Any]) -> None:
    want = {
        "title": "The Rust Programming Language",
        "recipient": "Ann",
        "email": "ann@example.org",
        "paper": "gold",
        "ribbon": False,
        "card": "Happy birthday!",
        "deliver": "2026-12-24",
    }
    got = {name: gift.get(name) for name in want}
    check(got == want, f"gift {got}")


GIFT_QUESTIONS = [
    'Who is "The Rust Programming Language" for?',
    "How shall it be wrapped for Ann?",
    "What shall the card for Ann say?",
]


@sdk_step("three questions in a row, each knowing the answers before it")
async def three_in_a_row(client: Client) -> None:
    PERSON.will_say(*gift_answers())
    check_gift(await structured(client, "order_gift", {"isbn": BOOK}))
    check(PERSON.messages() == GIFT_QUESTIONS, f"asked {PERSON.messages()}")
    # Twenty at once: answers do not mix.
    PERSON.will_say(*(accept(approved=True) for _ in range(20)))

    async def refund(number: int) -> None:
        done = await structured(client, "refund", {"invoice": f"INV-at-once-{number}", "cents": 6_000 + number})
        check(done["refunded_cents"] == 6_000 + number, f"refund {number}: {done}")

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(refund, number)


@sdk_step("sampling and roots are asked in one round")
async def model_and_folders(client: Client) -> None:
    PERSON.will_say()
    result = await client.call_tool("write_blurb", {"isbn": BOOK})
    want = [f"For {ROOT}, by small-1: It compiles, and so will you."]
    check(texts(result) == want, f"told {texts(result)}")
    check(sorted(PERSON.others) == ["roots", "sampling"], f"asked {PERSON.others}")


@sdk_step("a prompt asks too")
async def prompt_asks(client: Client) -> None:
    PERSON.will_say(accept(stars=5, words=["clear", "long"]))
    prompt = await client.get_prompt("review", {"isbn": BOOK})
    text = prompt.messages[0].content.text
    check("5 of 5 stars" in text and "clear, long" in text, f"prompt {text}")


@sdk_step("the eighth question is answered, the ninth is an error")
async def nine_rounds(client: Client) -> None:
    PERSON.will_say(*(accept(cents=100 * offer) for offer in range(1, 10)))
    error = await refused(client.call_tool("haggle", {"isbn": BOOK}), ROUNDS_EXCEEDED)
    check(error.data == {"code": "ROUNDS_EXCEEDED"}, f"data {error.data}")
    check(len(PERSON.asked) == 8, f"asked {len(PERSON.asked)} times")
    PERSON.will_say(accept(cents=100), accept(cents=200), DECLINE)
    result = await client.call_tool("haggle", {"isbn": BOOK})
    check(texts(result) == ["No sale. The last offer was 2.00 EUR."], f"told {texts(result)}")


@sdk_step("a call given up while the person thinks leaves nothing behind")
async def given_up(client: Client) -> None:
    PERSON.will_say()
    PERSON.silent = True
    with anyio.move_on_after(0.3):
        await client.call_tool("refund", {"invoice": "INV-left", "cents": 9_000})
    check(len(PERSON.asked) == 1, f"asked {PERSON.messages()}")
    await still_answers(client)
    # The lane of that invoice is free.
    PERSON.will_say(accept(approved=True))
    done = await structured(client, "refund", {"invoice": "INV-left", "cents": 8_000})
    check(done["refunded_cents"] == 8_000, f"refund {done}")


@sdk_step("a state that was tampered with, moved or used twice does no harm")
async def tampered(client: Client) -> None:
    async def enter(cents: int, state: str | None = None) -> Any:
        answers = {"approval": accept(approved=True)} if state else None
        return await client.session.call_tool(
            "refund",
            {"invoice": "INV-tamper", "cents": cents},
            input_responses=answers,
            request_state=state,
            allow_input_required=True,
        )

    asked = await enter(6_000)
    check(isinstance(asked, types.InputRequiredResult), f"answered {asked}")
    state = asked.request_state
    middle = len(state) // 2
    changed = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]
    wrong = [changed, state[:-4], "€" + state[1:]]
    told = set()
    for bad in wrong:
        told.add((await refused(enter(6_000, bad), -32602)).message)
    # The same state for a refund of another amount.
    told.add((await refused(enter(600_000, state), -32602)).message)
    check(len(told) == 1, f"the reason shows: {told}")
    first = await enter(6_000, state)
    again = await enter(6_000, state)
    for result in (first, again):
        check(result.structured_content["refunded_cents"] == 6_000, f"refunded twice: {result.structured_content}")
    balance = await refunded(client, "INV-tamper")
    check('"refunded_cents":6000' in balance, f"invoice {balance}")


@own_step("a client that can answer nothing is asked nothing: error -32021 names what it lacks")
async def no_capability(command: list[str]) -> None:
    async with Client(server(command), read_timeout_seconds=STEP_BOUND) as client:
        for tool, arguments, lacks in (
            ("refund", {"invoice": "INV-1", "cents": 12_000}, {"elicitation": {"form": {}}}),
            ("link_account", {}, {"elicitation": {"url": {}}}),
            ("write_blurb", {"isbn": BOOK}, {"sampling": {}, "roots": {}}),
        ):
            error = await refused(client.call_tool(tool, arguments), MISSING_CAPABILITY)
            check(error.data == {"requiredCapabilities": lacks}, f"{tool}: data {error.data}")
        await still_answers(client)


@own_step("three questions in a row hop over three server processes that share a key")
async def three_processes(command: list[str]) -> None:
    answers = gift_answers()
    asked: list[str] = []
    state: str | None = None
    responses: dict[str, types.ElicitResult] | None = None
    for hop in range(4):
        # Each process sees one entry of the call and is gone before the next.
        parameters = server(command, BOOKSHOP_STATE_KEY=KEY)
        async with Client(parameters, read_timeout_seconds=STEP_BOUND, **PERSON.callbacks()) as client:
            result = await client.session.call_tool(
                "order_gift",
                {"isbn": BOOK},
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )
        if not isinstance(result, types.InputRequiredResult):
            check(hop == 3, f"finished after {hop} questions")
            check_gift(result.structured_content)
            break
        (key, question), *more = result.input_requests.items()
        check(not more, f"more than one question: {result.input_requests}")
        asked.append(question.params.message)
        responses = {key: answers[hop]}
        state = result.request_state
    else:
        raise Failure("asked a fourth time")
    check(asked == GIFT_QUESTIONS, f"asked {asked}")
    # A process with a key of its own does not take the state.
    async with Client(server(command), read_timeout_seconds=STEP_BOUND, **PERSON.callbacks()) as client:
        call = client.session.call_tool(
            "order_gift", {"isbn": BOOK}, input_responses=responses, request_state=state, allow_input_required=True
        )
        await refused(call, -32602)
