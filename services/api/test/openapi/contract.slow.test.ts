import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type ErrorCode, errorCodes } from '@suzumio/contract/errors/codes';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type EventType, eventTypes } from '@suzumio/contract/model/event';
import { listEvents } from '@suzumio/store/projects/events';
import { startHttpServer } from '@suzumio/runtime/http/http-server';
import { maxRefs } from '@suzumio/protocol/shared-repository';
import { ContentStore, hashOf, maxContentBytes } from '@suzumio/store/content/content-store';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import { apiApp } from '../../src/app.js';
import { EventHub } from '../../src/events/event-hub.js';
import { liveMessage } from '@suzumio/contract/operations/turns';
import { allOperations } from '@suzumio/contract/operations/operations';
import { isOpen, type Operation, refusalsOf, scopeOf, takesKey } from '@suzumio/contract/operations/operation';
import type { Answer } from '../support/api.js';
import {
  contextOf,
  type ContractWorld,
  contractWorld,
  contractYaml,
  local,
  type ProjectState,
  type Sample,
} from '../support/contract-world.js';
import { noteRefusal, noteSample } from '../support/note-samples.js';
import { otherProfileBodies, ownSubject, profileBodies, profileRefusal } from '../support/profile-samples.js';
import { refusal } from '../support/refusal.js';
import { standingYaml } from '../support/register-samples.js';
import { contradiction } from '../../../../test/support/emitted.js';
import { routesOf } from '../support/routes.js';
import { leaveFiles, publish } from '../support/play.js';
import { linkFor } from '../support/sign-in.js';
import { openStream } from '../support/sse-client.js';

let world: ContractWorld;
let made = 0;
beforeAll(async () => {
  world = await contractWorld();
});
afterAll(() => world.close());

/** Where a browser of another machine reaches this server, without TLS. */
const elsewhere = { host: 'away.example', origin: 'http://away.example' };

const mail = { recipient: 'ben', body: 'Hello.' };
const file = (extra = '') => contractYaml(`posted-${String(++made)}`) + extra;

/** The file of a project with something changed in it. */
const changedFile = (project: string, from: string | RegExp = 'Write.', to = 'Write well.') => {
  const changed = contractYaml(project).replace(from, to);
  expect(changed).not.toBe(contractYaml(project));
  return changed;
};

/** What is sent to operations that take something. */
const bodies: Readonly<Record<string, () => unknown>> = {
  createProject: () => ({ file: file() }),
  checkProjectFile: () => ({ file: file() }),
  diffConfig: () => ({ file: changedFile('team') }),
  applyConfig: () => ({ file: changedFile('team'), baseVersion: 1 }),
  stopProject: () => ({ now: true }),
  approveProject: () => ({ version: 1 }),
  requestChanges: () => ({ recipient: 'ada', body: 'More.', version: 1 }),
  stopAgent: () => ({ now: true }),
  resetAgent: () => ({ redeliver: true }),
  restoreWorkspace: () => ({ turn: 0 }),
  sendMessage: () => mail,
  redeliverMessage: () => ({ agent: 'ben' }),
  redactMessage: () => ({ because: 'It held a password.' }),
  redactArtifact: () => ({ because: 'It held a password.' }),
  replyToMessage: () => ({ message: '1', recipient: 'ben', body: 'Thank you.' }),
  broadcast: () => ({ body: 'Good evening.' }),
  markRead: () => ({ items: ['bulletin:message:msg_1'] }),
  assignTask: () => ({ role: 'reader', body: 'Read this.' }),
  labelProject: () => ({ set: { team: 'river' } }),
  pauseAgent: () => ({ reason: 'It loops.' }),
  pauseProject: () => ({ reason: 'It is night.' }),
  changeBudget: () => ({ turns: 50 }),
  uploadArtifact: () => Buffer.from('a,b\n'),
  uploadSharedPack: () => Buffer.from('PACK'),
  pushShared: () => ({ updates: [{ ref: `refs/heads/branch-${String(++made)}`, from: null, to: '1'.repeat(40) }] }),
  ...profileBodies,
  createSignInLink: () => ({ path: '/p/team' }),
  createSession: () => ({ code: 'nothing' }),
  createToken: () => ({ name: `token-${String(++made)}`, scope: 'read', project: 'team', expires: '30d' }),
};

/** The state in which a project has to be for what only some allow. */
const states: Readonly<Record<string, ProjectState>> = {
  startProject: 'initialized',
  deleteProject: 'at work',
  stopProject: 'running',
  approveProject: 'submitted',
  requestChanges: 'submitted',
  retryAgent: 'failed',
  resetAgent: 'failed',
  redeliverMessage: 'failed',
  stopAgent: 'running',
  startAgent: 'with a stopped agent',
  cancelTurn: 'at work',
  getReport: 'submitted',
  restoreWorkspace: 'running',
};

const queries: Readonly<Record<string, string>> = {
  waitForStatus: 'status=running',
  waitForReply: 'timeout=50ms',
  uploadArtifact: 'name=levels.csv',
  getWorkspaceFile: 'path=notes.md',
  search: 'q=begin',
  endSessions: 'token=admin',
  getSharedDiff: `from=${'1'.repeat(40)}&to=${'2'.repeat(40)}`,
};

/** What brings about an answer that is not the usual one. */
const variants: Readonly<Record<string, Sample>> = {
  'getArtifactContent 206': { headers: { range: 'bytes=2-' } },
  'getWorkspaceFile 206': { headers: { range: 'bytes=2-' } },
};

/** What is sent with an operation, whatever it is about. */
function requestOf({ id, upload }: Operation): Sample {
  const [body, query] = [bodies[id]?.(), queries[id]];
  return {
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query }),
    ...(upload ? { headers: { 'content-type': upload.media } } : {}),
    ...(id === 'createSession' ? { headers: { origin: world.api.url } } : {}),
  };
}

/** What some operations take that nothing else is tried with. */
const ownSamples: Readonly<Record<string, () => Promise<Sample>>> = {
  redactArtifact: async () => ({ artifact: await secretFile() }),
  viewArtifact: async () => ({ artifact: await secretFile('secret.html') }),
  getSharedBundle: async () => ({ project: (await projectWithPush()).project }),
  getSharedPack: projectWithPush,
  applyConfig: async () => {
    const project = await world.project('running');
    return { project, body: { file: changedFile(project), baseVersion: 1 } };
  },
  getSharedDiff: async () => ({ project: await projectWithDiff() }),
  signOut: () => world.signIn(),
  endSession: async () => ({ session: (await world.signIn()).session }),
  endSessions: async () => {
    await post('createToken', { name: `out-${String(++made)}`, scope: 'read' });
    return { query: `token=out-${String(made)}` };
  },
  createSession: async () => {
    return { body: { code: (await linkFor(world.api)).url.split('#')[1] } };
  },
};

/** What makes an operation succeed. */
async function sampleOf(operation: Operation): Promise<Sample> {
  const state = states[operation.id];
  const own = (await ownSamples[operation.id]?.()) ?? (await noteSample(world, operation));
  return { ...requestOf(operation), ...own, ...(state ? { project: await world.project(state) } : {}) };
}

/** An artifact that nothing else is tried with. */
async function secretFile(name = 'secret.txt'): Promise<string> {
  const content = Buffer.from(`secret ${String(++made)}`);
  return (await publish(world.api, 'team', 'ada', { name, content })).id;
}

/** A project whose agents share a repository, two commits of which are compared, were, or could not be. */
async function projectWithDiff(state: 'made' | 'waits' | 'none' | ErrorCode = 'made'): Promise<string> {
  const project = `diffs-${String(++made)}`;
  await world.api.create(contractYaml(project));
  const [from, to] = ['1'.repeat(40), '2'.repeat(40)];
  const files = { added: 0, changed: 1, removed: 0 };
  const commits = [{ id: to, subject: 'Measure.', author: 'Yuki', at: '2026-11-20T09:00:00.000Z' }];
  const diff = { base: from, head: to, commits, ahead: 1, behind: 0, files, diff: '' };
  if (state === 'none') return project;
  await world.api.write(project, (tx) =>
    tx.insert('git_diffs', {
      comparison_json: JSON.stringify({ from, to, common: false }),
      asked_at_ms: tx.nowMs,
      ended_at_ms: state === 'waits' ? null : tx.nowMs,
      made_json: state === 'made' ? JSON.stringify(diff) : null,
      refused_json: ['made', 'waits'].includes(state) ? null : JSON.stringify({ code: state, message: 'It says why.' }),
    }),
  );
  return project;
}

const diffOf = async (state: Parameters<typeof projectWithDiff>[0]) =>
  world.call(operationCalled('getSharedDiff'), {
    project: await projectWithDiff(state),
    query: `${queries['getSharedDiff'] ?? ''}&timeout=50ms`,
  });

/** A project in which an agent has pushed; what is in its pack does not matter here. */
async function projectWithPush(): Promise<{ project: string; pack: string }> {
  const { cell } = world.api;
  const project = await world.project('at work');
  const pack = await new ContentStore(cell.directory.projectDir(project)).putBytes(Buffer.alloc(64));
  await cell.stores.use(project, (store) =>
    store.write((tx) => {
      const turn = tx.get<{ id: string; agent: string }>('SELECT id, agent_id AS agent FROM turns LIMIT 1');
      const push = tx.insert('git_pushes', {
        actor: 'ada',
        agent_id: turn?.agent ?? '',
        turn_id: turn?.id ?? '',
        attempt: 1,
        key: 'the-first',
        pack,
        pack_bytes: 64,
        pack_objects: 1,
        updates_json: '[]',
        created_at_ms: tx.nowMs,
      });
      tx.insert('git_packs', { push_seq: push, sha256: pack });
      tx.insert('git_refs', { name: 'refs/heads/main', object_id: '1'.repeat(40), push_seq: push });
    }),
  );
  return { project, pack };
}

/** How a file for a project that is there is refused, or a version of its own. */
function configRefusals(id: 'diffConfig' | 'applyConfig'): Record<string, () => Promise<Answer>> {
  const asked = (body: object) => () =>
    world.call(operationCalled(id), { body: { ...body, ...(id === 'applyConfig' ? { baseVersion: 1 } : {}) } });
  const prompt = 'prompt: Write.';
  const refusals = {
    'invalid-config': asked({ file: 'name: [' }),
    'not-supported-yet': asked({ file: changedFile('team', prompt, `${prompt}, backend: external, env: { A: b }`) }),
    'policy-denied': asked({ file: changedFile('team', prompt, `${prompt}, workspace: { from: /etc }`) }),
    'profile-unknown': asked({ file: changedFile('team', prompt, `${prompt}, profile: Nobody`) }),
    'profile-retired': asked({ file: changedFile('team', prompt, `${prompt}, profile: Old`) }),
    'config-version-unknown': asked({ revert: 99 }),
  };
  return Object.fromEntries(Object.entries(refusals).map(([code, refuse]) => [`${id} ${code}`, refuse]));
}

const pushOf = (change: object, more: object = {}): Promise<Answer> => {
  const update = { ref: 'refs/heads/refused', from: null, to: '1'.repeat(40), ...change };
  return post('pushShared', { updates: [update], ...more });
};

async function completedProject(): Promise<string> {
  const project = await world.project('submitted');
  await world.call(operationCalled('approveProject'), { project });
  return project;
}

describe('the catalogue', () => {
  test('has every route, and no other', async () => {
    const context = contextOf(world.api);
    const hub = new EventHub(context);
    const routes = routesOf(apiApp(context, hub, local));
    await hub.close();
    expect(routes.length).toBeGreaterThan(20);
    const listed = allOperations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(routes.sort()).toEqual(listed.sort());
  });
});

const streams = new Set(['streamEvents', 'streamCellEvents', 'followTurn']);
const succeeding = allOperations.flatMap((operation) =>
  Object.entries(operation.answers)
    .filter(([status]) => Number(status) < 300 && !streams.has(operation.id))
    .map(([status, answer]) => ({ name: `${operation.id} ${status}`, operation, status: Number(status), answer })),
);

describe('succeeding as described', () => {
  test.each(succeeding)('$name', async ({ name, operation, status, answer }) => {
    const sample = { ...(await sampleOf(operation)), ...variants[name], ...(await ownSubject(world, name)) };
    const key = takesKey(operation) ? { 'idempotency-key': `contract-${operation.id}` } : {};
    const headersWithKey = { ...sample.headers, ...key };
    const { headers, json, ...received } = await world.call(operation, { ...sample, headers: headersWithKey });
    expect({ status: received.status, text: received.status === status ? '' : received.text }).toEqual({
      status,
      text: '',
    });
    const media = headers['content-type']?.split(';')[0] ?? '';
    const schema = answer.content?.[media];
    if (!schema) throw new Error(`${operation.id} answers ${media}, of which its description says nothing`);
    // No field that the schema lacks: it would have been dropped.
    if (media === 'application/json') expect(schema.parse(json)).toEqual(json);
    for (const header of Object.keys(answer.headers ?? {})) expect(headers).toHaveProperty(header.toLowerCase());

    if (!takesKey(operation)) return;
    const again = await world.call(operation, { ...sample, headers: headersWithKey });
    expect({ status: again.status, json: again.json }).toEqual({ status, json });
  });

  test.each(['listEvents', 'streamEvents', 'listCellEvents', 'streamCellEvents'])('%s as a stream', async (id) => {
    const { path } = operationCalled(id);
    const url = `${world.api.url}${path.replace(':project', 'team')}?after=0`;
    const headers = { authorization: `Bearer ${world.api.adminToken}`, accept: 'text/event-stream' };
    const stream = await openStream(url, headers);
    expect(stream.response.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(await stream.next()).toMatchObject({ type: expect.stringMatching(/^project\.(initialized|deleted)$/) });
    stream.cut();
  });

  test('followTurn as a stream', async () => {
    const { url, adminToken } = world.api;
    const headers = { authorization: `Bearer ${adminToken}` };
    const stream = await openStream(`${url}/api/projects/team/turns/ada:1/live`, headers);
    const message = liveMessage.parse(
      await stream.next().then((sent) => sent && { event: sent.type, data: sent.data }),
    );
    expect(message).toMatchObject({ event: 'end', data: { attempt: 1 } });
    stream.cut();
  });

  test('getWorkspaceFile 304', async () => {
    const operation = operationCalled('getWorkspaceFile');
    const query = 'path=notes.md';
    const etag = (await world.call(operation, { query })).headers.etag ?? '';
    expect((await world.call(operation, { query, headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  test('getArtifactContent 304', async () => {
    const operation = operationCalled('getArtifactContent');
    const { etag = '' } = (await world.call(operation)).headers;
    expect((await world.call(operation, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });
});

type Refuse = (operation: Operation, sample: Sample) => Promise<Answer>;

/** How any operation is made to refuse before it looks at the state of anything. */
const guards: Partial<Record<ErrorCode, Refuse>> = {
  'foreign-host': (operation, sample) => world.call(operation, { ...sample, headers: { host: 'evil.example' } }),
  'foreign-origin': (operation, sample) =>
    world.call(operation, { ...sample, headers: { origin: 'http://evil.example' } }),
  unauthenticated: (operation, sample) => world.call(operation, { ...sample, token: null }),
  forbidden: async (operation, sample) => {
    const token = await world.api.token(scopeOf(operation) === 'read' ? 'worker' : 'read');
    return world.call(operation, { ...sample, token });
  },
  'rate-limited': async (operation, sample) => {
    // One a second is answered, if only that it is invalid: a stream would not end. Where this takes longer, more than one.
    const asked = { ...sample, ...nonsense(operation) };
    let answer = await world.callLimited(operation, asked);
    for (let more = 0; more < 20 && answer.status !== 429; more += 1)
      answer = await world.callLimited(operation, asked);
    expect(answer.headers['retry-after']).toBe('1');
    return answer;
  },
  'invalid-request': (operation, sample) => world.call(operation, { ...sample, ...nonsense(operation) }),
  'body-too-large': (operation, sample) => world.call(operation, { ...sample, body: `"${'x'.repeat(1024 * 1024)}"` }),
  'content-too-large': (operation, sample) => {
    const headers = { ...sample.headers, 'content-length': String(maxContentBytes + 1) };
    return world.call(operation, { ...sample, headers });
  },
  'project-unknown': (operation, sample) => world.call(operation, { ...sample, project: 'nothing' }),
};

/** The parameters of lists that are an agent's name. */
const agentIn: Readonly<Record<string, string>> = {
  listTasks: 'assignee',
  listMessages: 'sender',
  listArtifacts: 'creator',
  getArtifactsArchive: 'creator',
  whyProject: 'after',
};

/** How those are made to refuse that look. */
const commonRefusals: Partial<Record<ErrorCode, Refuse>> = {
  'agent-unknown': (operation, { body }) =>
    operation.id === 'changeBudget' || operation.id === 'redeliverMessage'
      ? world.call(operation, { body: { ...(body as object), agent: 'zoe' } })
      : world.call(operation, {
          agent: 'zoe',
          query: queryFor(operation, `${agentIn[operation.id] ?? 'agent'}=zoe`),
        }),
  'turn-unknown': (operation) => world.call(operation, { turn: 'ada:999', query: queryFor(operation, 'turn=turn_1') }),
  'message-unknown': (operation, sample) =>
    operation.id === 'replyToMessage'
      ? sendWith(operation, sample, { message: '999' })
      : world.call(operation, { message: '999' }),
  'team-unknown': (operation, sample) =>
    operation.method === 'get'
      ? world.call(operation, { query: 'team=none' })
      : sendWith(operation, sample, { team: 'none' }),
  'thread-unknown': (operation) => world.call(operation, { message: 'msg_1' }),
  'artifact-unknown': (operation) => world.call(operation, { artifact: 'art_1' }),
  'artifact-redacted': async (operation) => {
    const artifact = await secretFile();
    await world.call(operationCalled('redactArtifact'), { artifact });
    return world.call(operation, { artifact });
  },
  'artifact-entry-unknown': ({ id, ...operation }) =>
    world.call(
      { id, ...operation },
      { artifact: world.file, ...(id === 'listArtifactEntries' ? {} : { query: 'path=x' }) },
    ),
  'range-not-satisfiable': (operation, sample) => world.call(operation, { ...sample, headers: { range: 'bytes=99-' } }),
  'workspace-path-unknown': (operation, sample) => world.call(operation, { ...sample, query: 'path=none' }),
  'transition-refused': async (operation, { body }) => {
    const project = await world.project(operation.id === 'startProject' ? 'running' : 'initialized');
    if (operation.id === 'stopProject') await world.api.post(`/api/projects/${project}/stop`);
    return world.call(operation, { project, body });
  },
  'report-version-refused': (operation, sample) =>
    world.call(operation, { ...sample, body: { ...(sample.body as object), version: 2 } }),
  'recipient-unknown': (operation, sample) => sendWith(operation, sample, { recipient: 'zoe' }),
  'recipient-retired': async (operation, sample) => {
    const project = sample.project ?? (await world.project('running'));
    const without = changedFile(project, / {2}eve:.*\n/, '');
    await world.call(operationCalled('applyConfig'), { project, body: { file: without, baseVersion: 1 } });
    await world.call(operationCalled('sendMessage'), { project, body: mail });
    return sendWith(operation, { ...sample, project }, { recipient: 'eve' });
  },
  'recipient-ambiguous': (operation, sample) => sendWith(operation, sample, { recipient: 'Twin' }),
  'recipient-self': (operation, sample) => sendWith(operation, sample, { recipient: 'user' }),
  'channel-unknown': (operation, sample) => sendWith(operation, sample, { recipient: undefined, channel: '#none' }),
  'attachment-unknown': (operation, sample) => sendWith(operation, sample, { attachments: ['none.csv'] }),
  'priority-unknown': (operation, sample) => sendWith(operation, sample, { priority: 'P9' }),
  'sender-forged': (operation, sample) => sendWith(operation, sample, { sender: 'ada' }),
  'idempotency-mismatch': async (operation, sample) => {
    const headers = { ...sample.headers, 'idempotency-key': 'mismatch' };
    await world.call(operation, { ...sample, headers });
    const changes: Record<string, unknown> = {
      createProject: { start: true },
      stopProject: { now: false },
      approveProject: { version: 2 },
      stopAgent: { now: false },
      resetAgent: { redeliver: false },
      redeliverMessage: { agent: 'ada' },
      redactMessage: { because: 'It was wrong.' },
      redactArtifact: { because: 'It was wrong.' },
      labelProject: { remove: ['env'] },
      applyConfig: { baseVersion: 2 },
      pauseAgent: { reason: 'It rests.' },
      pauseProject: { reason: 'It is day.' },
      changeBudget: { turns: 60 },
      pushShared: { updates: [{ ref: 'refs/heads/another', from: null, to: '1'.repeat(40) }] },
      ...otherProfileBodies,
    };
    if (operation.upload) return world.call(operation, { ...sample, headers, body: 'Something else.' });
    const body = { ...(sample.body as object), ...(changes[operation.id] ?? { body: 'Something else.' }) };
    return world.call(operation, { ...sample, headers, body });
  },
  'server-unreachable': async ({ id, path }) => {
    const query = id === 'waitForStatus' ? '?status=completed' : '';
    const url = `${world.stoppingUrl}${path.replace(':project', 'team').replace(':message', '1')}${query}`;
    const { adminToken } = world.api;
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${adminToken}`, accept: 'text/event-stream' },
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text,
      json: JSON.parse(text) as unknown,
    };
  },
};

/** How one operation is made to refuse. */
const ownRefusals: Readonly<Record<string, () => Promise<Answer>>> = {
  'pauseCell idempotency-mismatch': async () => {
    const headers = { 'idempotency-key': 'mismatch' };
    await world.call(operationCalled('pauseCell'), { headers, body: { reason: 'It is night.' } });
    const answer = await world.call(operationCalled('pauseCell'), { headers, body: { reason: 'It is day.' } });
    await post('resumeCell', {});
    return answer;
  },
  'createProject project-exists': () => post('createProject', { file: contractYaml('team') }),
  'createProject invalid-config': () => post('createProject', { file: 'name: [' }),
  'createProject not-supported-yet': () =>
    post('createProject', { file: file('  zoe: { role: zoe, backend: external, env: { A: b } }\n') }),
  'createProject policy-denied': () =>
    post('createProject', { file: file().replace('prompt: Write.', 'prompt: Write., workspace: { from: /etc }') }),
  'getConfigVersion config-version-unknown': () => world.call(operationCalled('getConfigVersion'), { version: '99' }),
  'compareConfigVersions config-version-unknown': () =>
    world.call(operationCalled('compareConfigVersions'), { query: 'from=99' }),
  ...configRefusals('diffConfig'),
  ...configRefusals('applyConfig'),
  'applyConfig config-conflict': async () => {
    const sample = await sampleOf(operationCalled('applyConfig'));
    await world.call(operationCalled('applyConfig'), sample);
    return world.call(operationCalled('applyConfig'), sample);
  },
  'applyConfig config-change-refused': () =>
    world.call(operationCalled('applyConfig'), { body: { file: file(), baseVersion: 1 } }),
  'standUpTeam config-change-refused': () =>
    world.call(operationCalled('standUpTeam'), {
      body: { file: standingYaml('desk', 'member: { profile: "*", backend: external }') },
    }),
  'retryAgent agent-state-refused': () => world.call(operationCalled('retryAgent')),
  'resetAgent agent-state-refused': () => world.call(operationCalled('resetAgent')),
  'replyToMessage message-unanswerable': async () => {
    const project = await world.project('running');
    const message = await world.notice(project);
    return world.call(operationCalled('replyToMessage'), { project, body: { message, body: 'Thank you.' } });
  },
  'assignTask nobody-fits': () => post('assignTask', { role: 'poet', body: 'Rhyme.' }),
  'redeliverMessage redelivery-refused': () => world.call(operationCalled('redeliverMessage')),
  'stopAgent agent-state-refused': async () =>
    world.call(operationCalled('stopAgent'), { project: await world.project('failed') }),
  'startAgent agent-state-refused': () => world.call(operationCalled('startAgent')),
  'cancelTurn turn-state-refused': () => world.call(operationCalled('cancelTurn')),
  'followTurn live-unavailable': async () =>
    world.call(operationCalled('followTurn'), { project: await world.project('at work') }),
  'followTurn live-full': async () => {
    const full = await startHttpServer((_request, response) => {
      response.writeHead(503, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'live-full', detail: 'As many follow as may.', status: 503 }));
    }, local);
    world.toolhostUrls.push(full.url);
    try {
      return await world.call(operationCalled('followTurn'), { project: await world.project('at work') });
    } finally {
      world.toolhostUrls.pop();
      await full.stop();
    }
  },
  'createToken token-exists': async () => {
    await post('createToken', { name: 'taken', scope: 'read' });
    return post('createToken', { name: 'taken', scope: 'admin' });
  },
  'createToken project-unknown': () => post('createToken', { name: 'ben', scope: 'read', project: 'nothing' }),
  'revokeToken token-unknown': () => world.call(operationCalled('revokeToken'), { of: 'nobody' }),
  'createSignInLink token-unknown': () => post('createSignInLink', { token: 'nobody' }),
  'endSessions token-unknown': () => world.call(operationCalled('endSessions'), { query: 'token=nobody' }),
  'createSignInLink sign-in-insecure': () => world.call(operationCalled('createSignInLink'), { headers: elsewhere }),
  'createSession sign-in-insecure': () => post('createSession', { code: 'nothing' }, elsewhere),
  'createSession sign-in-link-ended': () => post('createSession', { code: 'nothing' }, { origin: world.api.url }),
  'createSession rate-limited': async () => {
    const here = { host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' };
    const guess = () =>
      world.callLimited(operationCalled('createSession'), { body: { code: 'nothing' }, headers: here });
    const answers = await Promise.all(Array.from({ length: 100 }, guess));
    return answers.find(({ status }) => status === 429) ?? guess();
  },
  'signOut session-unknown': () => world.call(operationCalled('signOut')),
  'endSession session-unknown': () => world.call(operationCalled('endSession'), { session: 'ses_1' }),
  'changeBudget budget-refused': async () =>
    world.call(operationCalled('changeBudget'), { project: await world.thinking(), body: { usd: 5 } }),
  'getWorkspaceFile agent-unknown': () =>
    world.call(operationCalled('getWorkspaceFile'), { agent: 'zoe', query: 'path=notes.md' }),
  'getWorkspaceFile turn-unknown': () =>
    world.call(operationCalled('getWorkspaceFile'), { query: 'path=notes.md&turn=9' }),
  'listWorkspaceEntries turn-unknown': () => world.call(operationCalled('listWorkspaceEntries'), { query: 'turn=9' }),
  'getWorkspaceFile content-collected': async () => {
    const project = await world.project('running');
    await leaveFiles(world.api, project, 'ben', { 'notes.md': 'One.\n' });
    await leaveFiles(world.api, project, 'ben', { 'notes.md': 'Two.\n' });
    const content = new ContentStore(world.api.cell.directory.projectDir(project));
    const removed = hashOf(Buffer.from('One.\n'));
    await rm(join(world.api.cell.directory.projectDir(project), content.pathOf(removed)));
    return world.call(operationCalled('getWorkspaceFile'), { project, query: 'path=notes.md&turn=1' });
  },
  'getSharedBundle git-ref-unknown': () => world.call(operationCalled('getSharedBundle'), { project: 'desk' }),
  'getSharedPack git-pack-unknown': () => world.call(operationCalled('getSharedPack')),
  'uploadSharedPack git-not-shared': () =>
    world.call(operationCalled('uploadSharedPack'), {
      ...requestOf(operationCalled('uploadSharedPack')),
      project: 'desk',
    }),
  'uploadSharedPack project-closed': async () => {
    const sample = requestOf(operationCalled('uploadSharedPack'));
    return world.call(operationCalled('uploadSharedPack'), { ...sample, project: await completedProject() });
  },
  'pushShared git-not-shared': () =>
    world.call(operationCalled('pushShared'), { ...requestOf(operationCalled('pushShared')), project: 'desk' }),
  'pushShared project-closed': async () => {
    const sample = requestOf(operationCalled('pushShared'));
    return world.call(operationCalled('pushShared'), { ...sample, project: await completedProject() });
  },
  'pushShared git-ref-refused': () => pushOf({ to: null }),
  'pushShared git-ref-moved': () => pushOf({ from: '2'.repeat(40) }),
  'pushShared git-refs-full': async () => {
    const { api } = world;
    await api.write('team', (tx) => {
      const seq = tx.get<{ seq: number }>('SELECT max(seq) AS seq FROM git_pushes')?.seq ?? 0;
      for (let ref = 0; ref < maxRefs; ref += 1) {
        tx.insert('git_refs', { name: `refs/tags/v${String(ref)}`, object_id: '1'.repeat(40), push_seq: seq });
      }
    });
    const answer = await pushOf({});
    await api.write('team', (tx) => tx.run("DELETE FROM git_refs WHERE name LIKE 'refs/tags/v%'", {}));
    return answer;
  },
  'pushShared git-pack-invalid': async () => {
    const sample = requestOf(operationCalled('uploadSharedPack'));
    const { sha256 } = (await world.call(operationCalled('uploadSharedPack'), sample)).json as { sha256: string };
    return pushOf({}, { pack: sha256 });
  },
  'pushShared content-missing': () => pushOf({}, { pack: 'e'.repeat(64) }),
  'getSharedDiff git-not-shared': () =>
    world.call(operationCalled('getSharedDiff'), { project: 'desk', query: 'to=main' }),
  'getSharedDiff git-ref-unknown': async () =>
    world.call(operationCalled('getSharedDiff'), { project: await projectWithDiff('none'), query: 'to=main' }),
  'getSharedDiff git-commit-unknown': () => diffOf('git-commit-unknown'),
  'getSharedDiff git-diff-pending': () => diffOf('waits'),
  'getSharedDiff git-diff-no-worker': () => diffOf('none'),
  'getSharedDiff git-diff-too-large': () => diffOf('git-diff-too-large'),
  'getSharedDiff git-diff-too-slow': () => diffOf('git-diff-too-slow'),
  'getSharedDiff git-diff-failed': () => diffOf('git-diff-failed'),
  'getSharedDiff server-unreachable': () => {
    const away = new SuzumioError('server-unreachable', 'The queue cannot be reached now.');
    jest.spyOn(world.api.transport, 'fleet').mockRejectedValueOnce(away);
    return diffOf('none');
  },
  'restoreWorkspace agent-unknown': () =>
    world.call(operationCalled('restoreWorkspace'), { agent: 'zoe', body: { turn: 0 } }),
  'restoreWorkspace idempotency-mismatch': async () => {
    const project = await world.project('running');
    await leaveFiles(world.api, project, 'ben', { 'notes.md': 'One.\n' });
    const restoreTo = (turn: number) =>
      world.call(operationCalled('restoreWorkspace'), {
        project,
        headers: { 'idempotency-key': 'mismatch' },
        body: { turn },
      });
    await restoreTo(0);
    return restoreTo(1);
  },
  'restoreWorkspace workspace-changed': async () => {
    const project = await world.project('running');
    for (const text of ['One.\n', 'Two.\n']) await leaveFiles(world.api, project, 'ben', { 'notes.md': text });
    const restoreTo = (turn: number) => world.call(operationCalled('restoreWorkspace'), { project, body: { turn } });
    // All of them find the same files; the first that writes changes them.
    const answers = await Promise.all([0, 1, 0, 1].map(restoreTo));
    return answers.find(({ status }) => status === 409) ?? restoreTo(0);
  },
  'restoreWorkspace turn-unknown': () => post('restoreWorkspace', { turn: 9 }),
  'restoreWorkspace agent-state-refused': async () =>
    world.call(operationCalled('restoreWorkspace'), {
      project: await world.project('at work'),
      agent: 'ada',
      body: { turn: 0 },
    }),
  'restoreWorkspace project-closed': async () =>
    world.call(operationCalled('restoreWorkspace'), { project: await completedProject(), body: { turn: 0 } }),
  'restoreWorkspace content-collected': async () => {
    const project = await world.project('running');
    for (const text of ['One.\n', 'Two.\n']) await leaveFiles(world.api, project, 'ben', { 'notes.md': text });
    const content = new ContentStore(world.api.cell.directory.projectDir(project));
    await rm(join(world.api.cell.directory.projectDir(project), content.pathOf(hashOf(Buffer.from('One.\n')))));
    expect((await world.call(operationCalled('restoreWorkspace'), { project, body: { turn: 0 } })).status).toBe(200);
    return world.call(operationCalled('restoreWorkspace'), { project, body: { turn: 1 } });
  },
  ...Object.fromEntries(
    (['listWorkspaceEntries', 'getWorkspaceFile', 'restoreWorkspace', 'getTurnChanges', 'getTurnDiff'] as const).map(
      (name) => [
        `${name} workspace-too-large`,
        () => {
          const tooLarge = new SuzumioError('workspace-too-large', 'It takes more memory than there is.');
          jest.spyOn(Snapshots.prototype, 'read').mockRejectedValueOnce(tooLarge);
          return world.call(operationCalled(name), requestOf(operationCalled(name)));
        },
      ],
    ),
  ),
  'getReport report-missing': () => world.call(operationCalled('getReport')),
  'listWorkers server-unreachable': () => {
    const away = new SuzumioError('server-unreachable', 'The queue cannot be reached now.');
    jest.spyOn(world.api.transport, 'fleet').mockRejectedValueOnce(away);
    return world.call(operationCalled('listWorkers'));
  },
};

const refused = allOperations.flatMap((operation) =>
  refusalsOf(operation)
    .filter((code) => code !== 'store-busy')
    .map((code) => ({ name: `${operation.id} ${code}`, operation, code })),
);

describe('refusing as described', () => {
  test.each(refused)('$name', async ({ name, operation, code }) => {
    const answer =
      (await ownRefusals[name]?.()) ??
      (await noteRefusal(world, operation, code)) ??
      (await profileRefusal(world, operation, code)) ??
      (await guards[code]?.(operation, requestOf(operation))) ??
      (await commonRefusals[code]?.(operation, await sampleOf(operation)));
    if (!answer) throw new Error(`nothing makes ${operation.id} refuse with ${code}`);
    expect(refusal(answer)).toMatchObject({ code, status: errorCodes[code].status });
  });

  test('every write store-busy, while something else holds the databases', async () => {
    const busySamples: Readonly<Record<string, Sample>> = {
      signOut: world.session,
      // A small one is charged with the next transaction.
      uploadSharedPack: { ...requestOf(operationCalled('uploadSharedPack')), body: Buffer.alloc(9 * 1024 * 1024) },
    };
    const writing = allOperations.filter((operation) => refusalsOf(operation).includes('store-busy'));
    const answers = await world.whileBusy(() =>
      Promise.all(writing.map((operation) => world.call(operation, busySamples[operation.id] ?? requestOf(operation)))),
    );
    const codes = answers.map((answer, index) => [
      writing[index]?.id,
      answer.status < 400 ? answer.status : refusal(answer).code,
    ]);
    expect(codes).toEqual(writing.map(({ id }) => [id, 'store-busy']));
  });

  test('nothing that is open needs a token', () => {
    expect(allOperations.filter(isOpen).map(({ path }) => path)).toEqual(['/api/session', '/health', '/openapi.json']);
  });
});

test('what happened meanwhile is told as the table of events says', async () => {
  const { cell } = world.api;
  const seen = new Set<EventType>();
  for (const { id } of cell.catalog.projects.all()) {
    for (const event of await cell.stores.use(id, (store) => listEvents(store.reader, { limit: 10_000 }).items)) {
      seen.add(event.type);
      expect(contradiction(event)).toBeUndefined();
    }
  }
  // These take what no request can bring about; closing a test's cell looks at them in the suites of their own.
  const others = new Set<EventType>([
    'project.restored',
    'task.accepted',
    'task.done',
    'task.declined',
    'turn.requeued',
    'signal.recorded',
    'model.answered',
    'budget.reached',
    'artifact.redacted',
    'workspace.cloned',
    'upstream.moved',
    'upstream.missed',
    'agent.waiting',
  ]);
  expect(eventTypes.filter((type) => !seen.has(type) && !others.has(type))).toEqual([]);
});

function operationCalled(id: string): Operation {
  const operation = allOperations.find((candidate) => candidate.id === id);
  if (!operation) throw new Error(`there is no operation ${id}`);
  return operation;
}

function post(id: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return world.call(operationCalled(id), { body, headers });
}

function nonsense({ body }: Operation): Sample {
  return body === undefined ? { query: 'nonsense=1' } : { body: { nonsense: 1 } };
}

/** A query only where the name is no part of the address. */
function queryFor({ path }: Operation, query: string): string {
  return path.includes(`:${query.split('=')[0] ?? ''}`) ? '' : query;
}

/** The sample with other mail in it, wherever the operation has its mail. */
function sendWith(operation: Operation, sample: Sample, change: Record<string, unknown>): Promise<Answer> {
  const body = sample.body as Record<string, unknown>;
  const changed =
    operation.id === 'createProject' ? { ...body, message: { ...mail, ...change } } : { ...body, ...change };
  return world.call(operation, { ...sample, body: changed });
}
