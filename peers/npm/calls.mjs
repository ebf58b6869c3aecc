// Tools: discovering, listing, calling, progress, cancelling, failing, many at once.

import assert from 'node:assert/strict';
import { SdkErrorCode } from '@modelcontextprotocol/client';
import { VERSION, refused, step, text, until } from './support.mjs';

const TOOLS = ['find_book', 'monthly_report', 'order_book', 'hold_status', 'rebuild_index', 'refund', 'order_gift'];
const MANY_BOOKS = 1_000_000;

step('discover names the server, the revision and the capabilities', async ({ client }) => {
  assert.equal(client.getNegotiatedProtocolVersion(), VERSION);
  assert.equal(client.getServerVersion().name, 'bookshop');
  const found = await client.discover();
  assert.ok(found.supportedVersions.includes(VERSION));
  for (const capability of ['tools', 'prompts', 'resources', 'completions', 'logging']) {
    assert.ok(client.getServerCapabilities()[capability], `no ${capability}`);
  }
  assert.deepEqual(client.getServerCapabilities().resources, { listChanged: true, subscribe: true });
});

step('list gives every tool with its schemas', async ({ client }) => {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(TOOLS.filter((name) => !names.includes(name)), []);
  assert.ok(tools.every((tool) => tool.inputSchema.type === 'object'));
  assert.equal(tools.find((tool) => tool.name === 'refund').outputSchema.type, 'object');
});

step('a call answers text, and a structured one fits its schema', async (session) => {
  const found = await session.call('find_book', { query: 'rust' });
  assert.match(text(found), /Programming Rust/);
  assert.equal(found.structuredContent, undefined);
  const report = await session.structured('monthly_report', { month: '2026-06' });
  assert.equal(report.month, '2026-06');
  assert.ok(Number.isInteger(report.orders));
});

// This client handles a notification after the answer that came with it in one read, and then knows its token no
// more: the last reports may be missing on a busy machine. Never others, and never out of order.
const REPORTS = [[30, 100, 'rows'], [90, 100, 'totals']];

step('progress arrives in order, before the result', async (session) => {
  let seen;
  for (let tries = 0; tries < 5 && seen?.length !== 2; tries += 1) {
    seen = [];
    const onprogress = ({ progress, total, message }) => seen.push([progress, total, message]);
    await session.structured('monthly_report', { month: '2026-06' }, { onprogress });
    assert.deepEqual(seen, REPORTS.slice(0, seen.length));
  }
  assert.equal(seen.length, 2, 'the second report never came in time');
});

const holds = (session) => () => session.structured('hold_status');

step('cancelling a call runs its clean-up', async (session) => {
  const before = await holds(session)();
  const stop = new AbortController();
  const order = session.call('order_book', { isbn: '9780131103627', copies: 2 }, { signal: stop.signal });
  const ended = order.then(() => 'answered', () => 'cancelled');
  await until(holds(session), (now) => now.held === before.held + 2, 'no hold was taken');
  stop.abort('changed my mind');
  assert.equal(await ended, 'cancelled');
  await until(holds(session), (now) => now.released === before.released + 2, 'the hold was not released');
  await session.stillAnswers();
});

step('a call the client gives up on by timeout is cancelled too', async (session) => {
  const before = await holds(session)();
  const order = session.call('order_book', { isbn: '9780131103627', copies: 1 }, { timeout: 300 });
  await refused(order, SdkErrorCode.RequestTimeout);
  await until(holds(session), (now) => now.released === before.released + 1, 'the hold was not released');
});

step('cancelling a blocking call stops it between two books', async (session) => {
  const status = () => session.structured('index_status');
  const stop = new AbortController();
  const rebuild = session.call('rebuild_index', { books: MANY_BOOKS }, { signal: stop.signal });
  const ended = rebuild.then(() => 'answered', () => 'cancelled');
  await until(status, (now) => now.running && now.indexed >= 1, 'the rebuild did not start');
  stop.abort();
  assert.equal(await ended, 'cancelled');
  const stopped = await until(status, (now) => !now.running, 'the rebuild did not stop');
  assert.ok(stopped.indexed < MANY_BOOKS);
});

step('failures: a result with isError, an unknown tool, arguments of the wrong type', async (session) => {
  const nothing = await session.call('find_book', { query: 'nothing' });
  assert.equal(nothing.isError, true);
  assert.match(text(nothing), /no book/);
  await refused(session.call('burn_book'), -32602);
  const wrong = await session.call('find_book', { query: 7 });
  assert.equal(wrong.isError, true);
});

step('200 calls at once are each answered with their own answer', async (session) => {
  const refunds = Array.from({ length: 100 }, async (_, n) => {
    const invoice = `INV-many-${n}`;
    const done = await session.structured('refund', { invoice, cents: 100 + n });
    assert.deepEqual(done, { invoice, refunded_cents: 100 + n });
  });
  const reports = Array.from({ length: 100 }, async (_, n) => {
    const month = `${2001 + Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, '0')}`;
    const seen = [];
    const onprogress = ({ progress, total, message }) => seen.push([progress, total, message]);
    assert.equal((await session.structured('monthly_report', { month }, { onprogress })).month, month);
    assert.deepEqual(seen, REPORTS.slice(0, seen.length));
  });
  await Promise.all([...refunds, ...reports]);
});
