#!/usr/bin/env node
// Drives the `bookshop` example over stdio with the TypeScript SDK's client, pinned to the revision 2026-07-28.
//
// Usage: drive_bookshop.mjs SERVER [ARGUMENT...]
//
// One line a step, `PASS name` or `FAIL name: reason`, then `N passed, M failed`; exit code 0 when nothing failed.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './calls.mjs';
import './rounds.mjs';
import './reading.mjs';
import { STEP_BOUND, Session, steps } from './support.mjs';

/** What the client says of progress that it handles too late; see `calls.mjs`. */
const LATE = /^Received a progress notification for an unknown token/;

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error('usage: drive_bookshop.mjs SERVER [ARGUMENT...]');
  process.exit(2);
}

let passed = 0;
let failed = 0;

async function run(name, body) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`did not finish within ${STEP_BOUND} ms`)), STEP_BOUND);
  });
  try {
    await Promise.race([body(), late]);
    passed += 1;
    console.log(`PASS ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}: ${String(error?.message ?? error).replace(/\s+/g, ' ').slice(0, 400)}`);
  } finally {
    clearTimeout(timer);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'drive-bookshop-'));
const status = join(folder, 'exit-status');
let session;
await run('the client connects', async () => {
  session = await Session.start(command, { env: { EXIT_STATUS: status } });
});
if (session) {
  for (const { name, run: body } of steps) {
    await run(name, () => body(session, command));
  }
  await run('the client met nothing that it could not read', async () => {
    const error = session.errors.find(({ message }) => !LATE.test(message));
    if (error) throw error;
  });
  await run('the server exits with 0 when the client closes its stdin', async () => {
    await session.close();
    assert.equal(readFileSync(status, 'utf8').trim(), '0');
  });
}
rmSync(folder, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
