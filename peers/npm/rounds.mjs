// Questions in the middle of a call: forms, visits, sampling and roots, and what must not pass.

import assert from 'node:assert/strict';
import { BOOK, STEP_BOUND, Session, accept, cancel, decline, refused, step, text } from './support.mjs';

const MISSING_CAPABILITY = -32021;
const ROUNDS_EXCEEDED = 1002;
// Any key; that it is written down here makes it one for tests alone.
const KEY = '7b'.repeat(32);

step('a form is accepted, and the call goes on with what was filled in', async (session) => {
  session.willSay(accept({ approved: true, reason: 'came damaged' }));
  const done = await session.structured('refund', { invoice: 'INV-ask', cents: 12_000 });
  assert.deepEqual(done, { invoice: 'INV-ask', refunded_cents: 12_000 });
  assert.deepEqual(session.messages(), ['Refund 120.00 EUR on invoice INV-ask?']);
  const form = session.asked[0].requestedSchema;
  assert.equal(form.properties.approved.type, 'boolean');
  assert.deepEqual(form.required, ['approved']);
});

step('a form is declined, cancelled, or answered with no: three different things', async (session) => {
  const told = [];
  for (const says of [decline, cancel, accept({ approved: false })]) {
    session.willSay(says);
    const result = await session.call('refund', { invoice: 'INV-no', cents: 7_000 });
    assert.equal(result.isError, true);
    assert.equal(session.asked.length, 1);
    told.push(text(result));
  }
  assert.match(told[0], /not approved/);
  assert.match(told[1], /Nobody decided/);
  assert.equal(told[2], told[0]);
  assert.equal((await session.json('invoice://INV-no')).refunded_cents, 0);
});

step('a person is sent to a URL, which is the same at the next entry', async (session) => {
  session.willSay({ action: 'accept' });
  const result = await session.call('link_account');
  assert.ok(!result.isError, text(result));
  const [asked] = session.asked;
  assert.equal(asked.mode, 'url');
  const code = asked.url.split('https://bookshop.example/link?code=')[1];
  assert.ok(text(result).includes(`Link ${code} `), text(result));
  session.willSay(decline);
  assert.equal((await session.call('link_account')).isError, true);
});

const answers = [
  accept({ name: 'Ann', email: 'ann@example.org' }),
  accept({ paper: 'gold', ribbon: false }),
  accept({ text: 'Happy birthday!', deliver: '2026-12-24' }),
];
const questions = [
  'Who is "The Rust Programming Language" for?',
  'How shall it be wrapped for Ann?',
  'What shall the card for Ann say?',
];

function checkGift(gift) {
  const { title, cents, ...answered } = gift;
  assert.equal(title, 'The Rust Programming Language');
  const card = { card: 'Happy birthday!', deliver: '2026-12-24' };
  assert.deepEqual(answered, { recipient: 'Ann', email: 'ann@example.org', paper: 'gold', ribbon: false, ...card });
}

step('three questions in a row, each knowing the answers before it', async (session) => {
  session.willSay(...answers);
  checkGift(await session.structured('order_gift', { isbn: BOOK }));
  assert.deepEqual(session.messages(), questions);
});

step('sampling and roots are asked in one round', async (session) => {
  session.willSay();
  const result = await session.call('write_blurb', { isbn: BOOK });
  assert.equal(text(result), 'For file:///home/reader/books, by small-1: It compiles, and so will you.');
  assert.deepEqual(session.others.sort(), ['roots', 'sampling']);
});

step('a prompt asks too', async (session) => {
  session.willSay(accept({ stars: 5, words: ['clear', 'long'] }));
  const prompt = await session.client.getPrompt({ name: 'review', arguments: { isbn: BOOK } });
  assert.match(prompt.messages[0].content.text, /5 of 5 stars.*clear, long/);
});

step('the eighth question is answered, the ninth is an error', async (session) => {
  session.willSay(...Array.from({ length: 9 }, (_, n) => accept({ cents: 100 * (n + 1) })));
  const error = await refused(session.call('haggle', { isbn: BOOK }), ROUNDS_EXCEEDED);
  assert.deepEqual(error.data, { code: 'ROUNDS_EXCEEDED' });
  assert.equal(session.asked.length, 8);
});

step('a call given up while the person thinks leaves nothing behind', async (session) => {
  session.willSay();
  session.silent = true;
  const stop = new AbortController();
  const refund = session.call('refund', { invoice: 'INV-left', cents: 9_000 }, { signal: stop.signal });
  const ended = refund.then(() => 'answered', () => 'cancelled');
  while (session.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  stop.abort();
  assert.equal(await ended, 'cancelled');
  session.willSay(accept({ approved: true }));
  const done = await session.structured('refund', { invoice: 'INV-left', cents: 8_000 });
  assert.equal(done.refunded_cents, 8_000);
});

/** One entry of a call, without the client's own rounds. (`callTool` would want structured content of a question.) */
function enter(session, name, args, inputResponses, requestState) {
  const params = { name, arguments: args };
  if (requestState !== undefined) Object.assign(params, { inputResponses, requestState });
  const options = { allowInputRequired: true, timeout: STEP_BOUND };
  return session.client.request({ method: 'tools/call', params }, options);
}

step('a state that was tampered with, moved or used twice does no harm', async (session) => {
  const refund = (cents, state) => {
    const args = { invoice: 'INV-tamper', cents };
    return enter(session, 'refund', args, { approval: accept({ approved: true }) }, state);
  };
  const asked = await refund(6_000);
  assert.equal(asked.resultType, 'input_required');
  const state = asked.requestState;
  const middle = Math.floor(state.length / 2);
  const changed = state.slice(0, middle) + (state[middle] === 'A' ? 'B' : 'A') + state.slice(middle + 1);
  const told = new Set();
  for (const [cents, bad] of [[6_000, changed], [6_000, state.slice(0, -4)], [600_000, state]]) {
    told.add((await refused(refund(cents, bad), -32602)).message);
  }
  assert.equal(told.size, 1, `the reason shows: ${[...told]}`);
  assert.equal((await refund(6_000, state)).structuredContent.refunded_cents, 6_000);
  assert.equal((await refund(6_000, state)).structuredContent.refunded_cents, 6_000);
  assert.equal((await session.json('invoice://INV-tamper')).refunded_cents, 6_000);
});

step('a client that can answer nothing is asked nothing: error -32021 names what it lacks', async (_, command) => {
  const session = await Session.start(command, { capabilities: {} });
  try {
    const form = await refused(session.call('refund', { invoice: 'INV-1', cents: 12_000 }), MISSING_CAPABILITY);
    assert.deepEqual(form.data, { requiredCapabilities: { elicitation: { form: {} } } });
    const others = await refused(session.call('write_blurb', { isbn: BOOK }), MISSING_CAPABILITY);
    assert.deepEqual(others.data, { requiredCapabilities: { roots: {}, sampling: {} } });
    await session.stillAnswers();
  } finally {
    await session.close();
  }
});

step('three questions in a row hop over server processes that share a key', async (_, command) => {
  const asked = [];
  let responses;
  let state;
  let result;
  for (let hop = 0; hop < 4; hop += 1) {
    // Each process sees one entry of the call and is gone before the next.
    const session = await Session.start(command, { env: { BOOKSHOP_STATE_KEY: KEY } });
    try {
      result = await enter(session, 'order_gift', { isbn: BOOK }, responses, state);
    } finally {
      await session.close();
    }
    if (result.resultType !== 'input_required') break;
    const [[key, question]] = Object.entries(result.inputRequests);
    asked.push(question.params.message);
    responses = { [key]: answers[hop] };
    state = result.requestState;
  }
  assert.deepEqual(asked, questions);
  checkGift(result.structuredContent);
});
