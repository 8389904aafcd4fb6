import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import fc from '../support/fast-check.js';
import { openApiDocument } from '../../services/api/src/openapi/document.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { count } from '../support/outcomes.js';
import { campaign, casesOf } from './support/campaign.js';
import type { JsonSchema } from './support/json-schema.js';
import { judgeConversation } from './support/judge.js';
import { spoiledText } from './support/nasty.js';
import { type RawAnswer, talk } from './support/raw-http.js';
import { type Placeholders, type RequestCase, requestsTo, type Route, wireOf } from './support/request.js';
import { projectFile, startWorld, type World } from './support/world.js';
import { spoiledWire } from './support/wire.js';

const projects = ['fuzz', 'other'];
const document = openApiDocument('0.0.0');
const schemas = document.components.schemas as Record<string, JsonSchema>;

/** Every operation of the description, so that a new one is covered by itself. */
const routes: Route[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): Route => {
    const inside = (place: string) =>
      Object.fromEntries(
        operation.parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, schema as JsonSchema]),
      );
    const [media, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    return {
      name: operation.operationId,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
      parameters: inside('path'),
      query: inside('query'),
      headers: inside('header'),
      ...(media === undefined
        ? {}
        : media === 'application/json'
          ? { body: content?.schema as JsonSchema }
          : { bytes: media }),
      token: '~admin~',
    };
  }),
);

/** What exists in the world, for the fields that name something. */
const known = {
  project: fc.constantFrom(...projects),
  agent: fc.constantFrom('ada', 'ben', 'cat', 'hand-1'),
  turn: fc.constantFrom('~turn~', 'hand-1:1'),
  artifact: fc.constant('~artifact~'),
  message: fc.constantFrom('1', '2', '99'),
  thread: fc.constantFrom('1', '2', 'msg_none'),
  note: fc.constantFrom('~note~', '~profileNote~', 'note_none'),
  tags: fc.constantFrom([], ['style'], ['a]b']),
  role: fc.constantFrom('reader', 'helper', 'poet'),
  nickname: fc.constantFrom('Akari', 'Ren', 'akari'),
  profile: fc.constantFrom('Akari', 'Ren', 'Nobody'),
  team: fc.constantFrom('research', 'all', 'nobody'),
  assignee: fc.constantFrom('ben', 'hand-1', 'nobody'),
  recipient: fc.constantFrom('ada', 'ben', 'Benny', 'user', 'nobody'),
  channel: fc.constantFrom('#team', '#none'),
  file: fc.oneof(
    fc.constantFrom('made-1', 'made-2', 'made-3').map(projectFile),
    spoiledText(fc.constant(projectFile('made-4'))),
  ),
};

/** What is deleted are projects that the other operations can do without. */
const expendable = { ...known, project: fc.constantFrom('made-1', 'made-2', 'made-3') };
const isDeletion = ({ method }: Route) => method === 'DELETE';
const requests = (some: readonly Route[]) =>
  fc.oneof(
    {
      arbitrary: requestsTo(
        some.filter((route) => !isDeletion(route)),
        known,
        schemas,
      ),
      weight: 12,
    },
    requestsTo(some.filter(isDeletion), expendable, schemas),
  );

/** Operations that may let a client wait for what it asked for. */
const patient = new Set(['waitForStatus', 'waitForReply']);

let world: World;
let placeholders: Placeholders;
let address: { host: string; port: number };
beforeAll(async () => {
  world = await startWorld();
  const { hostname: host, port } = new URL(world.stack.url);
  address = { host, port: Number(port) };
  const admin = world.stack.adminToken();
  await world.mend('other');
  const { input } = await world.begin('fuzz');
  const upload = await fetch(`${world.stack.url}/api/projects/fuzz/artifacts?name=a.txt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/octet-stream' },
    body: 'Some text.',
  });
  const { id: artifact } = (await upload.json()) as { id: string };
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.stack.url}/api/${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { note?: { id: string } };
  };
  await post('profiles', { nickname: 'Akari', role: 'reader', persona: 'Read.' });
  const ofAgent = await post('projects/fuzz/agents/ada/notes', { text: 'Levels in centimetres.' });
  const ofProfile = await post('profiles/Akari/notes', { text: 'The north gauge was moved.' });
  const notes = { note: ofAgent.note?.id ?? '', profileNote: ofProfile.note?.id ?? '' };
  placeholders = { admin, artifact, ...notes, turn: input.turn.id, worker: 'w', lease: 'l', tool: 't' };
});
afterAll(() => world.close());

let sent = 0;
beforeEach(() => {
  sent = 0;
});

/** From time to time: what was stopped runs again, and nothing has grown. */
async function between(cases: number): Promise<void> {
  sent += 1;
  if (sent % 100 === 0) for (const project of projects) await world.mend(project);
  if (sent === Math.floor(cases / 4) || sent === cases) await world.watch.check();
}

const isStream = ({ headers }: RawAnswer) => headers.get('content-type')?.startsWith('text/event-stream') ?? false;

const outcomes = new Map<string, number>();

async function judge(request: RequestCase): Promise<void> {
  await between(casesOf('api requests'));
  const head = request.method === 'HEAD';
  const waits = patient.has(request.route);
  const conversation = await talk(address, {
    chunks: [wireOf(request, placeholders)],
    head,
    answers: 1,
    endless: isStream,
    withinMs: waits ? 100 : 5_000,
  });
  judgeConversation(waits ? { ...conversation, over: true } : conversation, head);
  for (const { status } of conversation.answers) {
    const key = `${request.route} ${String(status)}`;
    outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
  }
}

test('every operation of the API answers whatever it is sent', async () => {
  await campaign('api requests', requests(routes), judge);
  world.judge();
  const succeeded = routes.filter(({ name }) =>
    [200, 201, 304].some((status) => outcomes.has(`${name} ${String(status)}`)),
  );
  // Most cases are wrong, and yet they get past what guards the operations.
  // Of random requests, some routes are allowed none by chance: it was half of them for most seeds, and fewer of fewer cases.
  const share = casesOf('api requests') < 1_000 ? 0.15 : 0.4;
  expect(succeeded.length).toBeGreaterThan(share * routes.length);
});

test('the API answers whatever bytes come, or closes the connection', async () => {
  const wire = requests(routes.filter(({ name }) => !patient.has(name)))
    // Where an answer to it ends is known to those only who know what was asked.
    .filter(({ method }) => method !== 'HEAD')
    .map((request) => wireOf(request, placeholders));
  await campaign('api bytes', spoiledWire(wire), async (chunks) => {
    await between(casesOf('api bytes'));
    judgeConversation(await talk(address, { chunks, endless: isStream, withinMs: 5_000 }));
  });
  world.judge();
});

test('leaves projects that are sound, and nothing half made', async () => {
  const directory = join(world.stack.root, 'projects');
  const names = await readdir(directory);
  const { body } = await world.stack.api('GET', '/projects');
  expect(names.sort()).toEqual((body as { items: { id: string }[] }).items.map(({ id }) => id).sort());
  for (const name of names) {
    const project = openProject(world.stack.root, name);
    try {
      expect({ name, broken: brokenInvariants(project) }).toEqual({ name, broken: [] });
      expect(count(project, 'projects')).toBe(1);
    } finally {
      project.close();
    }
    const files = await readdir(join(directory, name, 'artifacts')).catch(() => []);
    expect({ name, left: files.filter((file) => file.startsWith('.')) }).toEqual({ name, left: [] });
  }
});
