import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Output } from '@suzumio/cli/cli-context';
import { runCli } from '@suzumio/cli/program';
import type { MessageView } from '@suzumio/contract/model/message';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { postMessage } from '@suzumio/store/mail/post-message';
import { noon } from '../../test/support/cell.js';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { beginTurn, publish } from '../../services/api/test/support/play.js';

const hour = 3_600_000;
/** How much stands between the first message and the newest ones: more than is looked at for one page. */
const between = 10_500;

let api: TestApi;
let project: string;
beforeAll(async () => {
  api = await testApi();
  api.setNow(noon);
  project = await api.create();
  const post = (sender: string, recipient: string, body: string) =>
    api.write(project, (tx) => postMessage(tx, { sender, recipient, priority: 'P1', body, actor: 'test' }));
  await post('user', 'cat', 'The very first parser error.');
  await api.write(project, (tx) =>
    tx.run(`INSERT INTO messages (id, sender, recipient, priority, kind, body, thread_id, actor, created_at_ms)
      SELECT 'msg_' || n, 'user', 'ada', 'P1', 'direct', 'Nothing.', 'msg_' || n, 'test', ${String(noon)} FROM (
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${String(between)}) SELECT n FROM n)`),
  );
  api.setNow(noon + hour);
  await post('ada', 'user', `${'We have looked at all of it. '.repeat(5)}There is a parser\nerror in line 7.`);
  await post('ben', 'user', 'No parsing error here.');
  await api.write(project, (tx) => {
    const work = { sender: 'user', actor: 'test', priority: 'P1' as const };
    assignTask(tx, { ...work, role: 'reader', body: 'Read the south gauge.' });
    assignTask(tx, { ...work, sender: 'ada', role: 'reader', body: 'Read the north gauge.' });
  });
  await publish(api, project, 'ada', { name: 'reports/north.md', content: Buffer.from('# North\n') });
  api.setNow(noon + 2 * hour);
  await beginTurn(api, project, 'cat');
});
afterAll(() => api.close());

/** What a command says two and a half hours after noon. */
async function run(args: readonly string[], look: Partial<Output> = {}) {
  const [out, err] = [capture(look), capture(look)];
  const code = await runCli(args, {
    env: { SUZUMIO_ROOT: api.root },
    homeDir: api.root,
    out,
    err,
    self: 'suzumio',
    interrupted: new AbortController().signal,
    ask: undefined,
    now: () => noon + 2.5 * hour,
    timeZone: 'UTC',
  });
  return { code, out: out.text(), err: err.text() };
}

function capture(look: Partial<Output>): Output & { text(): string } {
  const written: string[] = [];
  return {
    write: (more) => void written.push(String(more)),
    drained: () => Promise.resolve(),
    text: () => written.join(''),
    isTerminal: false,
    colors: false,
    columns: undefined,
    ...look,
  };
}

const json = async (...args: string[]) => {
  const { code, out, err } = await run([...args, '--json']);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown>[];
};
const seqs = async (...args: string[]) => (await json('messages', project, ...args)).map(({ seq }) => seq);

const [first, adas, bens, south, north, publishes, begins] = [1, 2, 3, 4, 5, 6, 7].map((n) =>
  n === 1 ? n : between + n,
) as [...[number, number, number, number, number, number, number]];

// Without one first: then no message is in the index of words.
describe.each(['without a server', 'with a server'])('%s', (where) => {
  beforeEach(async () => {
    const file = join(api.root, 'server.json');
    if (where === 'with a server') await writeFile(file, JSON.stringify({ url: api.url, pid: process.pid }));
    else await rm(file, { force: true });
  });

  test('messages are narrowed, and shown from either end', async () => {
    expect(await seqs('--from', 'ada', '--to', 'user')).toEqual([adas]);
    expect(await seqs('--to', 'user')).toEqual([adas, bens]);
    expect(await seqs('--to', 'user', '--newest')).toEqual([bens, adas]);
    expect(await seqs('--limit', '2')).toEqual([publishes, begins]);
    expect(await seqs('--limit', '2', '--newest')).toEqual([begins, publishes]);
    expect(await seqs('--since', '45m')).toEqual([begins]);
    expect(await seqs('--since', '2h', '--until', '2026-11-22T14:00:00Z')).toEqual([
      adas,
      bens,
      south,
      north,
      publishes,
    ]);
    expect(await seqs('--since', '2026-11-23')).toEqual([]);
    expect(await seqs('--state', 'read')).toEqual([first, publishes, begins]);
    expect(await seqs('--priority', 'P0')).toEqual([]);
    expect(await seqs('--to', '#team')).toEqual([]);
  });

  test('what is wanted is found behind pages that have nothing of it', async () => {
    expect(await seqs('--to', 'cat')).toEqual([first, begins]);
    expect(await seqs('--to', 'cat', '--limit', '1')).toEqual([begins]);
    expect(await seqs('--search', 'parser')).toEqual([first, adas]);
    expect(await seqs('--search', 'parser', '--newest')).toEqual([adas, first]);
    expect(await seqs('--search', 'pars* error', '--limit', '2')).toEqual([adas, bens]);
    expect(await seqs('--limit', '1000')).toHaveLength(1000);
  });

  test('a search shows the place, on one line, with what was searched for', async () => {
    const { out } = await run(['messages', project, '--search', 'parser', '--since', '2h']);
    expect(out.split('\n')).toHaveLength(3);
    expect(out).toMatch(/There is a \[parser\] error in line 7\.\n$/);
    const look = { isTerminal: true, colors: true, columns: 100 };
    const onTerminal = (await run(['messages', project, '--search', 'parser', '--since', '2h'], look)).out;
    expect(onTerminal).toContain('\u001b[1m\u001b[33mparser\u001b[39m\u001b[22m error');
    const line = stripVTControlCharacters(onTerminal).split('\n')[1] ?? '';
    expect(line).toMatch(/ …[^…]*There is a parser error/);
    expect(line.length).toBeLessThanOrEqual(100);
    const [found] = (await json('messages', project, '--search', 'parser', '--since', '2h')) as MessageView[];
    expect(found?.found).toContainEqual({ text: 'parser', matched: true });
  });

  test('tasks, turns, tool calls, events and artifacts are narrowed, too', async () => {
    const of = async (key: string, ...args: [string, ...string[]]) =>
      (await json(args[0], project, ...args.slice(1))).map((item) => item[key]);
    expect(await of('seq', 'tasks', '--search', 'gauge', '--newest')).toEqual([north, south]);
    expect(await of('seq', 'tasks', '--search', '"south gauge"')).toEqual([south]);
    expect(await of('seq', 'tasks', '--by', 'ada', '--agent', 'ben')).toEqual([north]);
    expect(await of('agent', 'turns', '--agent', 'cat', '--status', 'running', '--since', '2h')).toEqual(['cat']);
    expect(await of('agent', 'turns', '--since', '20m')).toEqual([]);
    expect(await of('type', 'events', '--type', 'artifact.published,turn.started', '--newest')).toEqual([
      'turn.started',
      'artifact.published',
      'turn.started',
    ]);
    expect(await of('type', 'events', '--type', 'turn.started', '--agent', 'cat', '--since', '1h')).toHaveLength(1);
    expect(await of('type', 'events', '--until', '2h', '--type', 'turn.started')).toEqual([]);
    expect(await of('name', 'artifacts', '--by', 'ada', '--prefix', 'reports/')).toEqual(['reports/north.md']);
    expect(await of('name', 'artifacts', '--prefix', 'north')).toEqual([]);
    expect(await of('name', 'artifacts', '--by', 'user')).toEqual([]);
    expect(await of('versions', 'artifacts', '--latest')).toEqual([1]);
    expect(await of('name', 'artifacts', '--since', '1h')).toEqual([]);
    expect(await of('id', 'tool-calls', '--agent', 'ada', '--tool', 'messages.send', '--status', 'refused')).toEqual(
      [],
    );
  });

  test('says which of nothing there is', async () => {
    const none = async (...args: string[]) => (await run(args)).out;
    expect(await none('messages', project, '--from', 'system')).toBe(`${project} has no such messages.\n`);
    expect(await none('turns', project, '--status', 'failed')).toBe(`${project} has no such turns.\n`);
    expect(await none('events', project, '--type', 'project.paused')).toBe(`${project} has no such events.\n`);
    expect(await none('tool-calls', project, '--agent', 'cat')).toBe(`${project} has no such tool calls.\n`);
  });

  test.each<[string, string[], number, RegExp]>([
    ['a time', ['messages', '--since', '90'], 2, /how long ago, such as 90m, 12h or 1d, or a day or moment of UTC/],
    ['a time', ['turns', '--until', 'yesterday'], 2, /how long ago, such as 90m/],
    ['times', ['events', '--since', '1h', '--until', '2h'], 2, /--until has to be later than --since/],
    ['a type', ['events', '--type', 'turn.faild'], 2, /no type "turn\.faild" of events: did you mean turn\.failed\?/],
    ['a status', ['turns', '--status', 'done'], 2, /Allowed choices are queued, running, completed/],
    ['an agent', ['messages', '--from', 'aad'], 3, /"aad"/],
    ['a search', ['messages', '--search', '"parser'], 3, /a phrase begins with a quotation mark that none ends/],
    ['a search', ['tasks', '--search', '***'], 3, /expected words with letters or digits/],
  ])('%s that is written wrongly: %j', async (_what, [command = '', ...args], expected, said) => {
    const { code, out, err } = await run([command, project, ...args]);
    expect({ code, out }).toEqual({ code: expected, out: '' });
    expect(err).toMatch(said);
  });
});

describe('the search over everything', () => {
  test('has what is found by kind, with the place where it stands', async () => {
    const { code, out } = await run(['search', 'north']);
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => line.replaceAll(/ {2,}/g, '  '));
    expect(lines[0]).toBe('KIND  PROJECT  WHICH  TIME  TEXT');
    expect(lines).toContainEqual(expect.stringMatching(/^file {2}team {2}art_\S+ {2}.*reports\/north\.md, by ada$/));
    expect(lines).toContainEqual(expect.stringMatching(/^mail {2}team .*Read the \[north\] gauge\.$/));
  });

  test('is narrowed by kind and project, and says that nothing is found', async () => {
    expect((await json('search', 'north', '--kind', 'file', '--in', project)).map(({ kind }) => kind)).toEqual([
      'file',
    ]);
    expect((await run(['search', 'zeppelin', '--in', project])).out).toContain('Nothing is found.');
    expect((await run(['search', '"north'])).err).toContain('quotation mark');
  });
});

describe('what was decided', () => {
  test('is listed, the newest first, with who decided', async () => {
    expect((await run(['inbox', '--mine', '--decided'])).out).toMatch(/^Nobody has decided anything/);
    await api.post(`/api/projects/${project}/budget`, { turns: 40, agent: 'cat' });
    await api.post(`/api/projects/${project}/pause`, {});
    await api.post(`/api/projects/${project}/resume`, {});
    const { out } = await run(['inbox', '--mine', '--decided']);
    const lines = out.trimEnd().split('\n').slice(1);
    expect(lines.map((line) => line.replace(/^\S+ \S+ +/, '').replaceAll(/ {2,}/g, '  '))).toEqual([
      'team  admin  resumed the project',
      'team  admin  changed the budget of cat: 40 turns',
    ]);
    expect((await json('inbox', project, '--mine', '--decided', '--limit', '1')).map(({ kind }) => kind)).toEqual([
      'resumed',
    ]);
    expect((await run(['inbox', '--mine', '--decided', '--read'])).code).toBe(2);
  });
});
