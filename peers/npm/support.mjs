// What every part of the drive stands on: checks, bounds, steps, a client with a person in front of it.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const VERSION = '2026-07-28';
export const PREFIX = 'io.modelcontextprotocol/';
export const BOOK = '9781718503106';

/** It is winter for the servers of this drive while this file exists. */
export const WINTER = join(tmpdir(), `bookshop-winter-${process.pid}`);

// Milliseconds. A step, and a wait for one condition inside it, never take longer.
export const STEP_BOUND = 15_000;
export const WAIT_BOUND = 5_000;
const POLL = 20;

/** Runs the server, and writes its exit status down: the client does not tell it. */
const WATCHED = 'trap : TERM; "$@"; status=$?; [ -z "$EXIT_STATUS" ] || echo $status >"$EXIT_STATUS"';
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

export const steps = [];

/** Registers a step: it gets a session that all share, or the server's command if it wants its own. */
export function step(name, run) {
  steps.push({ name, run });
}

export const accept = (content) => ({ action: 'accept', content });
export const decline = { action: 'decline' };
export const cancel = { action: 'cancel' };

/** A connected client, what its person is asked and says, and what it hears on the side. */
export class Session {
  says = [];
  asked = [];
  others = [];
  heard = [];
  errors = [];
  /** When set, a question is noted, and waits until its call is given up. */
  silent = false;

  static async start(command, { capabilities = ALL, env, options } = {}) {
    const session = new Session();
    await session.connect(command, capabilities, env, options);
    return session;
  }

  async connect(command, capabilities, env, options = {}) {
    const info = { name: 'drive', version: '1' };
    const versionNegotiation = { mode: { pin: VERSION } };
    const client = new Client(info, { capabilities, versionNegotiation, ...options });
    this.client = client;
    client.onerror = (error) => this.errors.push(error);
    if (capabilities.elicitation) {
      client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => this.elicit(params, mcpReq.signal));
    }
    if (capabilities.sampling) {
      client.setRequestHandler('sampling/createMessage', (request) => {
        this.others.push('sampling');
        assert.match(request.params.messages[0].content.text, /Rust/);
        const content = { type: 'text', text: 'It compiles, and so will you.' };
        return { role: 'assistant', content, model: 'small-1' };
      });
    }
    if (capabilities.roots) {
      client.setRequestHandler('roots/list', () => {
        this.others.push('roots');
        return { roots: [{ uri: 'file:///home/reader/books' }] };
      });
    }
    const lists = ['tools', 'prompts', 'resources'].map((kind) => `${kind}/list_changed`);
    for (const method of ['message', 'resources/updated', ...lists]) {
      client.setNotificationHandler(`notifications/${method}`, (told) => {
        this.heard.push({ method, ...told.params });
      });
    }
    const args = ['-c', WATCHED, 'sh', ...command];
    this.transport = new StdioClientTransport({ command: '/bin/sh', args, env: { ...process.env, BOOKSHOP_WINTER: WINTER, ...env } });
    await client.connect(this.transport, { timeout: STEP_BOUND });
  }

  willSay(...says) {
    Object.assign(this, { says, asked: [], others: [], silent: false });
  }

  messages() {
    return this.asked.map((asked) => asked.message);
  }

  elicit(question, stopped) {
    this.asked.push(question);
    if (this.silent) {
      // Nothing of the client's waits for this signal: a handler that does not look at it outlives its call.
      return new Promise((_, reject) => stopped.addEventListener('abort', () => reject(stopped.reason)));
    }
    assert.ok(this.says.length > 0, `asked once too often: ${question.message}`);
    return this.says.shift();
  }

  call(name, args = {}, options) {
    return this.client.callTool({ name, arguments: args }, { timeout: STEP_BOUND, ...options });
  }

  /** Calls a tool; the client has validated what comes back against the tool's output schema. */
  async structured(name, args, options) {
    const result = await this.call(name, args, options);
    assert.ok(!result.isError, `${name} answered a tool error: ${text(result)}`);
    return result.structuredContent;
  }

  async json(uri) {
    const read = await this.client.readResource({ uri });
    return JSON.parse(read.contents[0].text);
  }

  async stillAnswers() {
    const result = await this.call('find_book', { query: 'rust' });
    assert.ok(!result.isError, `the next call failed: ${text(result)}`);
  }

  close() {
    return this.client.close();
  }
}

export function text(result) {
  return result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
}

/** The error that a call has to end with. */
export async function refused(call, code) {
  let answer;
  try {
    answer = await call;
  } catch (error) {
    assert.equal(error.code, code, `error ${error.code}: ${error.message}`);
    return error;
  }
  assert.fail(`answered ${JSON.stringify(answer)}`);
}

export async function until(read, accepts, what) {
  const deadline = Date.now() + WAIT_BOUND;
  for (;;) {
    const value = await read();
    if (accepts(value)) return value;
    assert.ok(Date.now() < deadline, `${what}: still ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL));
  }
}
