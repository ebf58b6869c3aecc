// A server to drive our client against, written with the npm package @modelcontextprotocol/server: over stdio, and
// in revision 2026-07-28 alone. What it offers is what ../README.md lists; server.py offers the same.

import {
    McpServer,
    ResourceTemplate,
    acceptedContent,
    completable,
    createRequestStateCodec,
    inputRequired,
    inputResponse,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const NOTES = ['amber', 'birch', 'cedar', 'dune', 'elder'];
const PAGE = 2;

const text = (said) => ({ content: [{ type: 'text', text: said }] });

function build() {
    const codec = createRequestStateCodec({ key: 'not a secret, and thirty-two bytes long', bind: (cx) => cx.mcpReq.method });
    const server = new McpServer(
        { name: 'workbench', version: '1.0.0' },
        {
            capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
            instructions: 'For tests.',
            requestState: { verify: codec.verify },
            cacheHints: { 'tools/list': { ttlMs: 60_000, cacheScope: 'public' } },
        },
    );
    calls(server);
    questions(server, codec);
    rough(server);
    changes(server);
    offers(server);
    return server;
}

function calls(server) {
    server.registerTool(
        'add',
        {
            description: 'Adds two whole numbers.',
            inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
            outputSchema: z.object({ sum: z.number().int() }),
        },
        ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
    );
    server.registerTool('count', { inputSchema: z.object({ to: z.number().int() }) }, async ({ to }, cx) => {
        const progressToken = cx.mcpReq._meta?.progressToken;
        for (let progress = 1; progress <= to && progressToken !== undefined; progress++) {
            const params = { progressToken, progress, total: to, message: `at ${progress}` };
            await cx.mcpReq.notify({ method: 'notifications/progress', params });
        }
        return text(`counted to ${to}`);
    });
    const cancelled = [];
    server.registerTool('wait', { inputSchema: z.object({ key: z.string() }) }, ({ key }, cx) => {
        return new Promise((resolve) => {
            cx.mcpReq.signal.addEventListener('abort', () => {
                cancelled.push(key);
                resolve(text('cancelled'));
            });
        });
    });
    server.registerTool('cancelled', { outputSchema: z.object({ keys: z.array(z.string()) }) }, () => {
        return { ...text(cancelled.join()), structuredContent: { keys: cancelled } };
    });
    server.registerTool('fail', {}, () => ({ ...text('on purpose'), isError: true }));
    server.registerTool('say', {}, async (cx) => {
        await cx.mcpReq.log('debug', 'quietly', 'bench');
        await cx.mcpReq.log('info', { loud: false }, 'bench');
        await cx.mcpReq.log('warning', 'loudly', 'bench');
        return text('said');
    });
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text: said }) => text(said));
    server.registerTool('picture', {}, () => ({
        content: [
            { type: 'image', data: 'iVBORw==', mimeType: 'image/png' },
            { type: 'resource_link', uri: 'note://amber', name: 'amber' },
            { type: 'resource', resource: { uri: 'note://birch', text: 'birch', mimeType: 'text/plain' } },
        ],
    }));
}

const Name = z.object({ name: z.string().min(2), seats: z.number().int().min(1).max(9).default(2) });
const Sure = z.object({ sure: z.boolean() });

const ask = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });

function questions(server, codec) {
    server.registerTool('form', {}, (cx) => {
        const answer = inputResponse(cx.mcpReq.inputResponses, 'name');
        if (answer.kind === 'elicit' && answer.action !== 'accept') {
            return text(answer.action);
        }
        const filled = acceptedContent(cx.mcpReq.inputResponses, 'name', Name);
        if (filled === undefined) {
            return inputRequired({ inputRequests: { name: ask('For whom?', Name) } });
        }
        return text(`${filled.seats} for ${filled.name}`);
    });
    server.registerTool('link', {}, async (cx) => {
        const answer = inputResponse(cx.mcpReq.inputResponses, 'visit');
        if (answer.kind !== 'elicit') {
            const visit = inputRequired.elicitUrl({ message: 'Link an account.', url: 'https://example.com/link?n=1' });
            return inputRequired({ inputRequests: { visit }, requestState: await codec.mint({ n: 1 }, cx) });
        }
        return text(`${answer.action}, state ${cx.mcpReq.requestState()?.n}`);
    });
    server.registerTool('think', {}, (cx) => {
        const answer = inputResponse(cx.mcpReq.inputResponses, 'thought');
        if (answer.kind !== 'sampling') {
            const messages = [{ role: 'user', content: { type: 'text', text: 'One word, please.' } }];
            const thought = inputRequired.createMessage({ messages, maxTokens: 10 });
            return inputRequired({ inputRequests: { thought } });
        }
        return text(`${answer.result.model}: ${answer.result.content.text}`);
    });
    server.registerTool('plan', {}, (cx) => {
        const answer = inputResponse(cx.mcpReq.inputResponses, 'use');
        if (answer.kind !== 'sampling') {
            const messages = [{ role: 'user', content: { type: 'text', text: 'When is high tide?' } }];
            const tide = { name: 'tide', inputSchema: { type: 'object', properties: { harbour: { type: 'string' } } } };
            const asked = { messages, maxTokens: 10, tools: [tide], toolChoice: { mode: 'required' } };
            return inputRequired({ inputRequests: { use: inputRequired.createMessage(asked) } });
        }
        const blocks = [answer.result.content].flat();
        return text(blocks.map((block) => `${block.name} ${block.input.harbour}`).join(', '));
    });
    server.registerTool('folders', {}, (cx) => {
        const answer = inputResponse(cx.mcpReq.inputResponses, 'folders');
        if (answer.kind !== 'roots') {
            return inputRequired({ inputRequests: { folders: inputRequired.listRoots() } });
        }
        return text(answer.roots.map((root) => root.uri).join());
    });
    // Two rounds: what the first gave is in the state of the second.
    server.registerTool('survey', {}, async (cx) => {
        const state = cx.mcpReq.requestState() ?? {};
        const name = state.name ?? acceptedContent(cx.mcpReq.inputResponses, 'name', Name)?.name;
        if (name === undefined) {
            return inputRequired({ inputRequests: { name: ask('For whom?', Name) }, requestState: await codec.mint({}, cx) });
        }
        const sure = acceptedContent(cx.mcpReq.inputResponses, 'sure', Sure);
        if (sure === undefined) {
            const again = ask(`Really for ${name}?`, Sure);
            return inputRequired({ inputRequests: { sure: again }, requestState: await codec.mint({ name }, cx) });
        }
        return text(`${name}: ${sure.sure}`);
    });
    // Two questions in one round.
    server.registerTool('both', {}, (cx) => {
        const sure = acceptedContent(cx.mcpReq.inputResponses, 'sure', Sure);
        const folders = inputResponse(cx.mcpReq.inputResponses, 'folders');
        if (sure === undefined || folders.kind !== 'roots') {
            const inputRequests = { sure: ask('Sure?', Sure), folders: inputRequired.listRoots() };
            return inputRequired({ inputRequests });
        }
        return text(`${sure.sure}, ${folders.roots.length} folders`);
    });
    // Comes back once with state alone.
    server.registerTool('later', {}, async (cx) => {
        if (cx.mcpReq.requestState()?.again !== true) {
            return inputRequired({ requestState: await codec.mint({ again: true }, cx) });
        }
        return text('now');
    });
}

function changes(server) {
    let late;
    server.registerTool('touch', { inputSchema: z.object({ note: z.string() }) }, async ({ note }) => {
        await server.server.sendResourceUpdated({ uri: `note://${note}` });
        return text('touched');
    });
    server.registerTool('grow', {}, () => {
        late ??= server.registerTool('late', {}, () => text('here'));
        return text('grown');
    });
}

// What a well-behaved server does not do.
function rough(server) {
    server.registerTool('mutter', {}, () => {
        process.stdout.write('this is not a message\n\n{"neither": "is this"}\n');
        process.stderr.write('a long complaint\n'.repeat(60_000));
        return text('muttered');
    });
    server.registerTool('crash', {}, () => {
        process.stderr.write('out of tea\n', () => process.exit(3));
        return new Promise(() => {});
    });
    server.registerTool('leave', {}, () => {
        setTimeout(() => handle.close(), 50);
        return text('leaving');
    });
    // Does not exit at the end of its input; nor when it is terminated, if it is deaf.
    server.registerTool('cling', { inputSchema: z.object({ deaf: z.boolean() }) }, ({ deaf }) => {
        setInterval(() => {}, 1000);
        if (deaf) {
            process.on('SIGTERM', () => {});
        }
        return text('clinging');
    });
}

function offers(server) {
    const names = z.object({ name: completable(z.string(), (typed) => NOTES.filter((note) => note.startsWith(typed))) });
    server.registerPrompt('greet', { description: 'Says hello.', argsSchema: names }, ({ name }) => ({
        description: 'A greeting',
        messages: [
            { role: 'user', content: { type: 'text', text: `Greet ${name}.` } },
            { role: 'assistant', content: { type: 'text', text: `Hello ${name}!` } },
        ],
    }));
    server.registerPrompt('ask_first', {}, (cx) => {
        const sure = acceptedContent(cx.mcpReq.inputResponses, 'sure', Sure);
        if (sure === undefined) {
            return inputRequired({ inputRequests: { sure: ask('Sure?', Sure) } });
        }
        return { messages: [{ role: 'user', content: { type: 'text', text: `sure: ${sure.sure}` } }] };
    });
    for (const note of NOTES) {
        server.registerResource(note, `note://${note}`, { mimeType: 'text/plain' }, (uri) => {
            return { contents: [{ uri: uri.href, text: `about ${note}`, mimeType: 'text/plain' }] };
        });
    }
    server.registerResource('dot', 'image://dot', { mimeType: 'image/png' }, (uri) => ({
        contents: [{ uri: uri.href, blob: 'iVBORw==', mimeType: 'image/png' }],
    }));
    const box = new ResourceTemplate('box://{number}', { list: undefined, complete: { number: () => ['1', '2'] } });
    server.registerResource('box', box, {}, (uri, { number }) => ({ contents: [{ uri: uri.href, text: `box ${number}` }] }));
    // The package's own lists have one page each.
    const all = [...NOTES.map((note) => ({ uri: `note://${note}`, name: note })), { uri: 'image://dot', name: 'dot' }];
    server.server.setRequestHandler('resources/list', ({ params }) => {
        const from = Number(params?.cursor ?? 0);
        const more = from + PAGE < all.length ? { nextCursor: `${from + PAGE}` } : {};
        return { resources: all.slice(from, from + PAGE), ...more };
    });
}

const handle = serveStdio(build, { legacy: 'reject', onerror: (error) => console.error(`server: ${error.message}`) });
