import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { stopAgent } from '@suzumio/store/turns/agent-transitions';
import { pauseAgent } from '@suzumio/store/protection/pause';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import fc, { caseCount } from '../../../test/support/fast-check.js';
import { children } from '../../../test/support/child.js';
import { type TestCell, testCell } from '../../../test/support/cell.js';
import { claimId } from './toolhost-client.js';

const assignments = 200;
/** As many requests as one attempt may have under way. */
const lanes = 16;
const bosses = ['boss-1', 'boss-2', 'boss-3', 'boss-4'];
const mail = { sender: 'user', priority: 'P1' as const, body: 'Go.', actor: 'test' };

const member = fc.record({
  role: fc.constantFrom('researcher', 'researcher', 'researcher', 'writer'),
  team: fc.constantFrom('north', 'south'),
  unread: fc.nat({ max: 12 }),
  is: fc.constantFrom('well', 'well', 'well', 'stopped', 'paused'),
});
type Member = { role: string; team: string; unread: number; is: string };
const someone: Member = { role: 'researcher', team: 'north', unread: 3, is: 'well' };
const roster = fc.record({
  members: fc.array(member, { maxLength: 11 }).map((members) => [someone, ...members]),
  team: fc.option(fc.constant('north'), { nil: undefined }),
});

const startChild = children();
let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

test('200 assignments at once, at two ToolHosts, leave no member with more than one beyond its share', async () => {
  const script = new URL('./fixtures/toolhost.mjs', import.meta.url);
  const processes = [startChild(script, testing.root), startChild(script, testing.root)];
  const hosts: { worker: string; runner: string }[] = [];
  for (const { line } of processes) hosts.push(JSON.parse(await line()) as (typeof hosts)[number]);
  const hostOf = (n: number) => hosts[n % hosts.length] ?? { worker: '', runner: '' };

  let projects = 0;
  await fc.assert(
    fc.asyncProperty(roster, async ({ members, team }) => {
      projects += 1;
      const project = await testing.create(projectOf(`p${String(projects)}`, members));
      const turns = await begin(project, hostOf);
      await prepare(project, members);
      const before = await unread(project);

      await Promise.all(
        turns.flatMap((at, turn) => {
          const numbers = Array.from({ length: assignments }, (_, n) => n)
            .filter((n) => n % turns.length === turn)
            .values();
          return Array.from({ length: lanes }, async () => {
            for (const n of numbers) await assign(hostOf(n).runner, project, at, { n, team });
          });
        }),
      );

      const fit = members.flatMap(({ role, is, ...of }, n) =>
        role === 'researcher' && is === 'well' && (team ?? of.team) === of.team ? [`m${String(n)}`] : [],
      );
      const load = new Map(fit.map((id) => [id, before.get(id) ?? 0]));
      const allowed = spread(load) + 1;
      const assigned = await testing.rows<{ assignee: string }>(project, 'SELECT assignee FROM tasks ORDER BY seq');
      expect(assigned).toHaveLength(assignments);
      for (const { assignee } of assigned) {
        expect(load.get(assignee)).toBe(Math.min(...load.values()));
        load.set(assignee, (load.get(assignee) ?? 0) + 1);
        expect(spread(load)).toBeLessThanOrEqual(allowed);
      }
      expect(await unread(project)).toEqual(new Map([...before, ...load]));
      expect(await testing.store(project, ({ reader }) => contradictionsIn(reader))).toEqual({});
    }),
    { numRuns: caseCount(5, 2), endOnFailure: true },
  );
});

const spread = (load: ReadonlyMap<string, number>) => Math.max(...load.values()) - Math.min(...load.values());

function projectOf(name: string, members: readonly Member[]): string {
  const agents = [
    ...bosses.map((id) => [id, { role: 'manager', prompt: 'Manage.', tools: ['tasks.*'] }]),
    ...members.map(({ role, team }, n) => [`m${String(n)}`, { role, team, prompt: 'Work.' }]),
  ];
  return JSON.stringify({
    name,
    task: 'Find it out.',
    backend: { runner: { mode: 'mock' } },
    agents: Object.fromEntries(agents) as unknown,
  });
}

/** Begins a turn of each assigner, at one ToolHost and the other. */
async function begin(project: string, hostOf: (n: number) => { worker: string }) {
  const turns = await testing.write(project, (tx) => {
    for (const recipient of bosses) postMessage(tx, { ...mail, recipient });
    return startTurns(tx);
  });
  return Promise.all(
    turns.map(async (turn, n) => {
      const body = { claimId: claimId(), worker: 'w1', engine: 'test', protocol: 2 };
      const url = `${hostOf(n).worker}/projects/${project}/turns/${turn}/claim`;
      return (await post(url, testing.cell.directory.workerToken(), body)) as ClaimAnswer;
    }),
  );
}

async function prepare(project: string, members: readonly Member[]): Promise<void> {
  await testing.write(project, (tx) => {
    members.forEach(({ unread: count, is }, n) => {
      const recipient = `m${String(n)}`;
      for (let sent = 0; sent < count; sent += 1) postMessage(tx, { ...mail, recipient });
      if (is === 'stopped') stopAgent(tx, recipient, 'test', { now: false });
      if (is === 'paused') pauseAgent(tx, recipient, { actor: 'test' });
    });
  });
}

async function unread(project: string): Promise<Map<string, number>> {
  const rows = await testing.rows<{ id: string; unread: number }>(
    project,
    'SELECT id, (SELECT count(*) FROM inbox WHERE recipient = id) AS unread FROM agents ORDER BY position',
  );
  return new Map(rows.map((row) => [row.id, row.unread]));
}

function assign(
  runner: string,
  project: string,
  { input, toolToken }: ClaimAnswer,
  { n, team }: { n: number; team: string | undefined },
) {
  const call = { project, agent: input.agent.id, turn: input.turn.id, tool: 'tasks.assign', step: `${String(n)}.0` };
  return post(`${runner}/tool`, toolToken, {
    ...call,
    input: { role: 'researcher', team, body: `Task ${String(n)}.` },
  });
}

/** As a runner does: what is busy is asked again. */
async function post(url: string, token: string, body: unknown): Promise<unknown> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    if (response.ok) return response.json();
    if (response.status !== 503 || attempt === 5) throw new Error(`${url} answered ${await response.text()}`);
  }
}
