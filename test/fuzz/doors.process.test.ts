import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod';
import fc from '../support/fast-check.js';
import type { ClaimAnswer } from '../../shared/protocol/src/attempts.js';
import { liveReport } from '../../shared/protocol/src/live.js';
import { encodeFrame, frameTypes, maxFramePayloadBytes } from '../../shared/protocol/src/stdio-frame-codec.js';
import { Multiplexer } from '../../shared/protocol/src/stdio-frames.js';
import { coreToolNames } from '../../shared/protocol/src/tool-names.js';
import { eventually } from '../support/poll.js';
import { freePort } from '../support/free-port.js';
import { type Campaign, campaign, casesOf } from './support/campaign.js';
import type { JsonSchema } from './support/json-schema.js';
import { judgeConversation } from './support/judge.js';
import { type Conversation, talk } from './support/raw-http.js';
import { type Placeholders, type RequestCase, requestsTo, type Route, wireOf } from './support/request.js';
import { knownToTools, toolCallsOf } from './support/tool-calls.js';
import { type Patient, vitalsArguments, Watch } from './support/vitals.js';
import { spoiledWire } from './support/wire.js';
import { startWorld, type World } from './support/world.js';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const sha256 = { sha256: { type: 'string' } };
const plain = { parameters: {}, query: {}, headers: {}, token: '~tool~' };

/** One that ended the turn would close the door for all the others. */
const lastingTools = coreToolNames.filter((name) => !/^(?:completion|coordination)/.test(name));

/** What may pass a door. */
const routes: Route[] = [
  { ...plain, name: 'tool', method: 'POST', path: '/tool', body: toolCallsOf(lastingTools) },
  {
    ...plain,
    name: 'put',
    method: 'PUT',
    path: '/content/:sha256',
    parameters: sha256,
    bytes: 'application/octet-stream',
  },
  {
    ...plain,
    name: 'live',
    method: 'POST',
    path: '/live',
    body: z.toJSONSchema(liveReport, { io: 'input' }) as JsonSchema,
  },
  { ...plain, name: 'get', method: 'GET', path: '/content/:sha256', parameters: sha256 },
];

let world: World;
let claimed: ClaimAnswer;
/** Of another turn: a shim counts the calls that name no step itself. */
let shimmed: ClaimAnswer;
let directory: string;
let watch: Watch;
const children: ChildProcess[] = [];
const at = { door: '', frames: '', shim: 0 };
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-fuzz-door-'));
  world = await startWorld();
  claimed = await world.begin('fuzz');
  shimmed = await world.begin('fuzz');
  world.forgive('fuzz');
  await mkdir(join(directory, 'door'));
  at.door = join(directory, 'door.sock');
  at.frames = join(directory, 'frames.sock');
  at.shim = await freePort();
  const input = {
    ...shimmed.input,
    workspace: directory,
    controllerUrl: `http://127.0.0.1:${String(at.shim)}`,
    token: shimmed.toolToken,
    limits: { timeoutMs: 600_000, doorPatienceMs: 500 },
  };
  await writeFile(join(directory, 'input.json'), JSON.stringify(input));
  const environment = {
    PATH: process.env['PATH'],
    FUZZ_VITALS: world.vitalsDirectory,
    FUZZ_DOOR: at.door,
    FUZZ_FRAMES: at.frames,
    RUNNER_URL: world.stack.toolhosts[0]?.runner,
    TOOL_TOKEN: claimed.toolToken,
    SHIM_TOKEN: shimmed.toolToken,
    FUZZ_SHIM_DOOR: join(directory, 'door', 'door.sock'),
    SUZUMIO_TURN_DIR: directory,
  };
  const start = async (name: string, args: string[], ready: () => Promise<unknown>): Promise<Patient> => {
    const child = spawn(process.execPath, [...vitalsArguments, ...args], {
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await eventually(`${name} serves`, async () => (await ready().catch(() => undefined)) !== undefined);
    return {
      name,
      pid: child.pid,
      get running() {
        return child.exitCode === null && child.signalCode === null;
      },
    };
  };
  const reached = (to: string | number) => async () => {
    const socket = typeof to === 'string' ? connect(to) : connect(to, '127.0.0.1');
    await once(socket, 'connect');
    return socket.destroy();
  };
  const door = await start('the door', [path('support/door-process.mjs')], reached(at.frames));
  const waiting = ['sh', '-c', 'while sleep 1; do :; done'];
  const shim = await start('the shim', [path('../../runner/dist/shim.mjs'), ...waiting], reached(at.shim));
  watch = new Watch(world.vitalsDirectory, [door, shim]);
});
afterAll(async () => {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }),
  );
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

let sent = 0;
beforeEach(() => {
  sent = 0;
});

async function between(name: Campaign): Promise<void> {
  sent += 1;
  const cases = casesOf(name);
  if (sent === Math.floor(cases / 4) || sent === cases) await watch.check();
}

const placeholders = ({ toolToken, leaseToken, input } = claimed): Placeholders => ({
  tool: toolToken,
  lease: leaseToken,
  worker: world.stack.workerToken(),
  admin: world.stack.adminToken(),
  turn: input.turn.id,
  agent: input.agent.id,
});

const requests = requestsTo(routes, knownToTools);
const wire = () =>
  spoiledWire(requests.filter(({ method }) => method !== 'HEAD').map((one) => wireOf(one, placeholders())));

test.each([
  { name: 'door requests' as const, address: () => ({ path: at.door }), turn: () => claimed },
  { name: 'shim requests' as const, address: () => ({ host: '127.0.0.1', port: at.shim }), turn: () => shimmed },
])('$name are answered, whatever they are', async ({ name, address, turn }) => {
  let succeeded = 0;
  await campaign(name, requests, async (one) => {
    await between(name);
    const head = one.method === 'HEAD';
    const chunks = [wireOf(one, placeholders(turn()))];
    const conversation = await talk(address(), { chunks, head, answers: 1, withinMs: 5_000 });
    judgeConversation(name === 'shim requests' ? ofTheShim(conversation, one) : conversation, head);
    succeeded += conversation.answers.filter(({ status }) => status < 300).length;
  });
  expect(succeeded).toBeGreaterThan(0);
  world.judge();
});

test('the door answers whatever bytes come, or closes the connection', async () => {
  await campaign('door bytes', wire(), async (chunks) => {
    await between('door bytes');
    judgeConversation(await talk({ path: at.door }, { chunks, withinMs: 5_000 }));
  });
  world.judge();
});

/** Asks the door something by frames, as a container of good will. */
async function wellBehaved(): Promise<number | undefined> {
  const socket = connect(at.frames);
  const asking = new Multiplexer({ input: socket, output: socket });
  try {
    const call = request({
      method: 'POST',
      path: '/tool',
      host: 'door',
      headers: { authorization: `Bearer ${claimed.toolToken}`, 'content-type': 'application/json' },
      createConnection: () => asking.open(),
    });
    // Its connection ends with the door that it came through.
    call.on('error', () => undefined);
    const { project, agent, turn } = claimed.input;
    call.end(JSON.stringify({ project, agent: agent.id, turn: turn.id, tool: 'artifacts.list', input: {} }));
    const [response] = (await once(call, 'response')) as [NodeJS.ReadableStream & { statusCode?: number }];
    await text(response);
    return response.statusCode;
  } finally {
    asking.close();
    socket.destroy();
  }
}

test('the door takes whatever frames come, and goes on to serve the others', async () => {
  const payload = fc.oneof(
    { arbitrary: requests.map((one) => wireOf(one, placeholders())), weight: 4 },
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom('', 'x'.repeat(maxFramePayloadBytes), '\0\0\0\x01', '\xff\xff\xff\xff', '\0'.repeat(300)),
  );
  const stream = fc.oneof({ arbitrary: fc.constantFrom(1, 2), weight: 4 }, fc.constantFrom(0, 3, 2 ** 31, 2 ** 32 - 1));
  const frame = fc.record({
    type: fc.oneof(
      { arbitrary: fc.constantFrom('open' as const, 'data' as const), weight: 3 },
      fc.constantFrom(...typed(frameTypes)),
    ),
    stream,
    number: fc.oneof({ arbitrary: fc.constant(undefined), weight: 6 }, fc.constantFrom(0, 1, 2 ** 32 - 1)),
    payload,
  });
  const cases = fc.record({
    frames: fc.array(frame, { maxLength: 12 }),
    flood: fc.constantFrom(1, 1, 1, 1, 1, 100),
    edits: fc.array(fc.record({ at: fc.nat(5_000), byte: fc.nat(255) }), { maxLength: 4 }),
    cut: fc.option(fc.nat(5_000), { freq: 4 }),
  });
  await campaign('door frames', cases, async ({ frames, flood, edits, cut }) => {
    await between('door frames');
    const counts = new Map<number, number>();
    const bytes = frames.map(({ type, stream: id, number, payload: content }) => {
      const next = counts.get(id) ?? 0;
      counts.set(id, next + 1);
      return encodeFrame({
        type: frameTypes[type],
        stream: id,
        number: number ?? next,
        payload: Buffer.from(content.slice(0, maxFramePayloadBytes), 'latin1'),
      });
    });
    const whole = Buffer.concat(Array.from({ length: flood }, () => bytes).flat());
    for (const { at: place, byte } of edits) if (whole.length > 0) whole[place % whole.length] = byte;
    const given = cut === null ? whole : whole.subarray(0, cut % (whole.length + 1));
    const socket = connect(at.frames);
    socket.on('error', () => undefined);
    socket.resume();
    socket.end(given);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    if (sent % 25 === 0) expect(await wellBehaved()).toBe(200);
  });
  expect(await wellBehaved()).toBe(200);
  world.judge();
});

/**
 * What counts of a shim's answers, which nobody but its own container gets: not those that Node gives to what is no HTTP,
 * and not that it could not send all of a body, for a door that refuses one by its head closes the connection.
 */
function ofTheShim(conversation: Conversation, { body: sentBody }: RequestCase): Conversation {
  const answers = conversation.answers.filter(
    ({ headers, status }) => headers.has('content-type') && !(sentBody !== '' && status === 502),
  );
  return { ...conversation, answers };
}

function typed<Key extends string>(table: Readonly<Record<Key, unknown>>): Key[] {
  return Object.keys(table) as Key[];
}
