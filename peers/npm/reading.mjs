// What can be read and listened to: prompts, completion, resources, log messages, subscriptions.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { BOOK, PREFIX, WINTER, refused, step, text, until } from './support.mjs';

const PRICES = 'shop://prices';

step('prompts are listed, got and refused', async ({ client }) => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), ['recommend', 'review']);
  const got = await client.getPrompt({ name: 'recommend', arguments: { author: 'Klabnik, Nichols', mood: 'tired' } });
  assert.deepEqual(got.messages.map((message) => message.content.type), ['text', 'resource_link']);
  assert.equal(got.messages[1].content.uri, `book://${BOOK}`);
  await refused(client.getPrompt({ name: 'recommend', arguments: { mood: 'tired' } }), -32602);
  await refused(client.getPrompt({ name: 'burn', arguments: {} }), -32602);
});

step('arguments of prompts and variables of templates are completed', async ({ client }) => {
  const values = async (ref, name, value) => {
    const { completion } = await client.complete({ ref, argument: { name, value } });
    return completion.values;
  };
  const recommend = { type: 'ref/prompt', name: 'recommend' };
  assert.deepEqual(await values(recommend, 'author', 'k'), ['Kernighan, Ritchie', 'Klabnik, Nichols']);
  assert.deepEqual(await values({ type: 'ref/resource', uri: 'book://{isbn}' }, 'isbn', '97817'), [BOOK]);
});

step('resources and templates are listed and read', async (session) => {
  const { client } = session;
  const { resources } = await client.listResources();
  assert.equal(resources.find((resource) => resource.uri === PRICES).mimeType, 'application/json');
  const { resourceTemplates } = await client.listResourceTemplates();
  const templates = resourceTemplates.map((template) => template.uriTemplate);
  assert.deepEqual(templates.sort(), ['book://{isbn}', 'cover://{isbn}', 'invoice://{number}']);
  assert.equal((await session.json(PRICES)).length, 5);
  assert.equal((await session.json(`book://${BOOK}`)).title, 'The Rust Programming Language');
  const cover = (await client.readResource({ uri: `cover://${BOOK}` })).contents[0];
  assert.equal(cover.mimeType, 'image/png');
  assert.equal(Buffer.from(cover.blob, 'base64').subarray(1, 4).toString(), 'PNG');
  const unknown = await refused(client.readResource({ uri: 'shop://nothing' }), -32602);
  assert.deepEqual(unknown.data, { uri: 'shop://nothing' });
});

step('a subscription hears of the resources it asked for', async (session) => {
  const price = async () => (await session.json(PRICES)).find((line) => line.isbn === BOOK).cents;
  const heard = async (count) => {
    const updates = () => session.heard.filter((told) => told.method === 'resources/updated').map((told) => told.uri);
    return until(updates, (uris) => uris.length >= count, 'not told');
  };
  const before = await price();
  session.heard.length = 0;
  const wanted = [PRICES, 'invoice://INV-heard'];
  const subscription = await session.client.listen({ resourceSubscriptions: wanted });
  try {
    assert.deepEqual([...subscription.honoredFilter.resourceSubscriptions].sort(), [...wanted].sort());
    await session.structured('refund', { invoice: 'INV-unheard', cents: 1 });
    const failed = await session.call('set_price', { isbn: '1', cents: 1 });
    assert.equal(failed.isError, true);
    await session.structured('refund', { invoice: 'INV-heard', cents: 1 });
    assert.deepEqual(await heard(1), ['invoice://INV-heard']);
    await session.call('set_price', { isbn: BOOK, cents: before + 1 });
    assert.deepEqual(await heard(2), ['invoice://INV-heard', PRICES]);
    assert.equal(await price(), before + 1, 'the new price is not told');
  } finally {
    await subscription.close();
  }
  assert.equal(await subscription.closed, 'local');
  await session.call('set_price', { isbn: BOOK, cents: before });
  await session.stillAnswers();
  assert.equal(session.heard.filter((told) => told.method === 'resources/updated').length, 2);
});

step('offers come and go while the server serves, and those who listen to the lists are told', async (session) => {
  const { client } = session;
  const offered = async () => {
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    return [
      tools.some(({ name }) => name === 'winter_offer'),
      prompts.some(({ name }) => name === 'winter_letter'),
      resources.some(({ uri }) => uri === 'shop://winter'),
    ];
  };
  const heard = async (count) => {
    const lists = () => session.heard.map(({ method }) => method).filter((method) => method.endsWith('list_changed'));
    return (await until(lists, (told) => told.length >= count, 'not told')).sort();
  };
  const all = ['prompts/list_changed', 'resources/list_changed', 'tools/list_changed'];
  session.heard.length = 0;
  assert.deepEqual(await offered(), [false, false, false]);
  const wanted = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const subscription = await client.listen(wanted);
  try {
    writeFileSync(WINTER, '');
    assert.deepEqual(await heard(3), all);
    assert.deepEqual(await offered(), [true, true, true]);
    assert.equal((await session.structured('winter_offer', { isbn: BOOK })).title, 'The Rust Programming Language');
    rmSync(WINTER);
    assert.deepEqual(await heard(6), [...all, ...all].sort());
    assert.deepEqual(await offered(), [false, false, false]);
    await refused(session.call('winter_offer', { isbn: BOOK }), -32602);
  } finally {
    rmSync(WINTER, { force: true });
    await subscription.close();
  }
});

step('log messages come for requests that ask for their level, and for no others', async (session) => {
  const refund = async (level) => {
    session.heard.length = 0;
    const params = { name: 'refund', arguments: { invoice: 'INV-log', cents: 100 } };
    if (level) params._meta = { [`${PREFIX}logLevel`]: level };
    const result = await session.client.callTool(params);
    assert.ok(!result.isError, text(result));
    return session.heard.map(({ method, level: said, logger, data }) => [method, said, logger, data]);
  };
  assert.deepEqual(await refund(), []);
  assert.deepEqual(await refund('warning'), []);
  assert.deepEqual(await refund('info'), [['message', 'info', 'till', '1.00 EUR paid back on INV-log']]);
});
