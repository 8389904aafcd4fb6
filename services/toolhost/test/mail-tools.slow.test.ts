import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { maxMessageBytes } from '@suzumio/protocol/content';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { deskYaml } from '../../../shared/store/test/desk.js';
import { eventually } from '../../../test/support/poll.js';
import { type Answer, type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;
beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create(deskYaml);
});
afterEach(() => bench.close());

/** The next turn of an agent that has mail already. */
async function next(agent: string): Promise<Begun> {
  await bench.testing.write(project, startTurns);
  const [row] = await bench.testing.rows<{ turn: string }>(
    project,
    `SELECT active_turn_id AS turn FROM agents WHERE id = '${agent}'`,
  );
  const turn = row?.turn ?? '';
  const { body } = await bench.claim(project, turn);
  return begun(bench, project, agent, turn, body as never);
}
const metadataOf = ({ body }: Answer) => body['metadata'] as Record<string, unknown>;
const mailOf = ({ answer }: Begun) => answer.input.turn.mail ?? [];
const lastCall = async () =>
  (await bench.testing.rows(project, 'SELECT tool, status, error_code FROM tool_calls ORDER BY seq DESC LIMIT 1'))[0];

describe('a task', () => {
  test('is assigned, accepted and done by tools alone, and everybody can list it', async () => {
    const boss = await bench.begin(project, 'boss');
    bench.wakes.length = 0;
    const assigned = await boss.tool('tasks.assign', { role: 'writer', team: 'south', body: 'Write it up.' });
    expect(assigned).toMatchObject({ status: 200, body: { metadata: { assignee: 'dan' } } });
    const { task } = metadataOf(assigned) as { task: string };
    expect(assigned.body['output']).toBe(`Assigned to dan as ${task}.`);
    await eventually('the project is woken', () => bench.wakes.includes(project));

    const dan = await next('dan');
    expect(mailOf(dan)).toMatchObject([{ id: task, kind: 'task', sender: 'boss', threadId: task }]);
    const accepted = await dan.tool('messages.reply', { message: task, body: 'I am at it.', task: 'accepted' });
    expect(accepted.body['output']).toMatch(`Task ${task} is accepted.`);
    expect(metadataOf(accepted)).toMatchObject({ recipients: ['boss'], threadId: task });
    const done = await dan.tool('messages.reply', { message: task, body: 'Here it is.', task: 'done' });
    expect(metadataOf(done)).toMatchObject({ task: { id: task, state: 'done' } });
    const late = await dan.tool('messages.reply', { message: task, body: 'Or not.', task: 'declined' });
    expect(late).toMatchObject({ status: 409, body: { code: 'task-state-refused' } });

    await boss.report('complete', { output: { text: '' } });
    const again = await next('boss');
    expect(mailOf(again)).toMatchObject([
      { kind: 'reply', replyTo: task, threadId: task },
      { kind: 'reply', replyTo: task, threadId: task, body: 'Here it is.' },
    ]);
    const listed = await again.tool('tasks.list', { state: 'done' });
    expect(listed.body['output']).toBe(`${task}  done  boss -> dan (writer)  Write it up.`);
    expect(metadataOf(listed)['tasks']).toMatchObject([{ id: task, stateMessage: metadataOf(done)['message'] }]);
    const none = await again.tool('tasks.list', { assignee: 'amy' });
    expect(none.body['output']).toBe('There are no such tasks.');
  });

  test('is assigned once however often its call comes', async () => {
    const boss = await bench.begin(project, 'boss');
    const call = () => boss.tool('tasks.assign', { role: 'researcher', body: 'Find it.' }, { step: '0.0' });
    const [first, ...others] = await Promise.all([call(), call(), call()]);
    for (const other of others) expect(other).toEqual(first);
    expect(await bench.testing.rows(project, 'SELECT assignee FROM tasks')).toEqual([{ assignee: 'amy' }]);
  });
});

test('mail to one who is at work says so to its sender', async () => {
  for (const agent of ['amy', 'bob', 'cleo']) await bench.begin(project, agent);
  const boss = await bench.begin(project, 'boss');
  const atWork = /^Sent to amy as msg_\w+\. amy is at work since \d{4}-.*Z, and reads it after this turn\.$/;
  const { body } = await boss.tool('messages.send', { recipient: 'amy', body: 'Where are you?' });
  expect(body['output']).toMatch(atWork);
  const assigned = await boss.tool('tasks.assign', { role: 'researcher', body: 'Find it.' });
  expect(assigned.body['output']).toMatch(/ is at work since .* and reads it after this turn\.$/);
  const all = await boss.tool('messages.broadcast', { body: 'Hear.' });
  expect(all.body['output']).toContain('amy is at work since');
});

describe('messages.broadcast', () => {
  test('reaches a team, or all, but not its sender', async () => {
    const amy = await bench.begin(project, 'amy');
    const toTeam = await amy.tool('messages.broadcast', { team: 'north', body: 'Stop.', priority: 'P0' });
    expect(metadataOf(toTeam)).toMatchObject({ recipients: ['bob'] });
    const toAll = await amy.tool('messages.broadcast', { body: 'Go on.' });
    expect(metadataOf(toAll)).toMatchObject({ recipients: ['boss', 'bob', 'cleo', 'dan'] });
    expect(mailOf(await next('bob'))).toMatchObject([
      { kind: 'broadcast', recipient: '@north', priority: 'P0' },
      { kind: 'broadcast', recipient: '@all' },
    ]);
  });
});

describe('messages.reply', () => {
  test('answers what was unread once messages.read has shown it', async () => {
    const amy = await bench.begin(project, 'amy');
    const boss = await bench.begin(project, 'boss');
    const { message } = metadataOf(await boss.tool('messages.send', { recipient: 'amy', body: 'Where are you?' }));
    const answer = () => amy.tool('messages.reply', { message, body: 'Here.', channel: '#desk' });
    expect(await answer()).toMatchObject({ status: 409, body: { code: 'message-unseen' } });
    const read = await amy.tool('messages.read', { id: message });
    expect(metadataOf(read)).toMatchObject({ kind: 'direct', replyTo: null });
    expect(await answer()).toMatchObject({
      status: 200,
      body: { output: expect.stringMatching(/^Replied to #desk as /) },
    });
  });

  test('carries artifacts', async () => {
    const amy = await bench.begin(project, 'amy');
    const id = mailOf(amy)[0]?.id;
    await amy.tool('artifacts.publish', { path: 'level.md', ...(await amy.upload('3.2 m\n')) });
    const sent = await amy.tool('messages.reply', {
      message: id,
      body: 'See.',
      attachments: ['level.md'],
      recipient: 'bob',
    });
    expect(sent.status).toBe(200);
    expect(mailOf(await next('bob'))).toMatchObject([{ attachments: [{ name: 'level.md' }] }]);
  });
});

const long = 'é'.repeat(maxMessageBytes / 2 + 1);
test.each<[string, string, string, unknown, number]>([
  ['an unknown message', 'message-unknown', 'messages.reply', { message: 'msg_1', body: 'x' }, 404],
  ['no message', 'tool-input-invalid', 'messages.reply', { body: 'x' }, 422],
  ['no text', 'tool-input-invalid', 'messages.reply', { message: 'msg_1', body: '' }, 422],
  ['a text over the bound', 'tool-input-invalid', 'messages.reply', { message: 'msg_1', body: long }, 422],
  ['an impossible move', 'tool-input-invalid', 'messages.reply', { message: 'msg_1', body: 'x', task: 'open' }, 422],
  ['a forged sender', 'tool-input-invalid', 'messages.reply', { message: 'msg_1', body: 'x', sender: 'user' }, 422],
  ['an unknown team', 'team-unknown', 'messages.broadcast', { team: 'west', body: 'x' }, 404],
  ['a team without a name', 'tool-input-invalid', 'messages.broadcast', { team: '', body: 'x' }, 422],
  ['no text', 'tool-input-invalid', 'messages.broadcast', { team: 'north' }, 422],
  ['a role that nobody has', 'nobody-fits', 'tasks.assign', { role: 'singer', body: 'x' }, 409],
  ['a role of its own alone', 'nobody-fits', 'tasks.assign', { role: 'manager', body: 'x' }, 409],
  ['an unknown team', 'team-unknown', 'tasks.assign', { role: 'writer', team: 'west', body: 'x' }, 404],
  ['no role', 'tool-input-invalid', 'tasks.assign', { body: 'x' }, 422],
  ['an assignee', 'tool-input-invalid', 'tasks.assign', { role: 'writer', body: 'x', assignee: 'dan' }, 422],
  [
    'what is not published',
    'attachment-unknown',
    'tasks.assign',
    { role: 'writer', body: 'x', attachments: ['none.md'] },
    422,
  ],
  ['an unknown agent', 'agent-unknown', 'tasks.list', { assignee: 'nobody' }, 404],
  ['an unknown state', 'tool-input-invalid', 'tasks.list', { state: 'lost' }, 422],
])('%s is refused as %s by %s', async (_what, code, tool, input, status) => {
  const boss = await bench.begin(project, 'boss');
  expect(await boss.tool(tool, input)).toMatchObject({ status, body: { code } });
  expect(await lastCall()).toEqual({ tool, status: 'failed', error_code: code });
  expect(await bench.testing.rows(project, `SELECT 1 AS one FROM messages WHERE sender = 'boss'`)).toEqual([]);
});

test('an allowlist of tasks.* and messages.* admits these tools, and one of tasks.list only that', async () => {
  const yaml = deskYaml
    .replace('name: desk', 'name: narrow')
    .replace('Manage., tools: ["*"]', 'Manage., tools: ["tasks.*"]')
    .replace('Write., team: south, tools: ["*"]', 'Write., team: south, tools: ["tasks.list", "messages.*"]');
  project = await bench.testing.create(yaml);
  const boss = await bench.begin(project, 'boss');
  expect(boss.answer.input.tools.map(({ name }) => name)).toEqual(['tasks.assign', 'tasks.list']);
  expect((await boss.tool('tasks.assign', { role: 'writer', body: 'x' })).status).toBe(200);
  const dan = await next('dan');
  expect(dan.answer.input.tools.map(({ name }) => name)).toEqual([
    'messages.send',
    'messages.read',
    'messages.reply',
    'messages.broadcast',
    'tasks.list',
  ]);
  const refused = await dan.tool('tasks.assign', { role: 'researcher', body: 'x' });
  expect(refused).toMatchObject({ status: 403, body: { code: 'tool-not-allowed' } });
});
