import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { approveProject, requestChanges } from '@suzumio/store/projects/project-transitions';
import { expireLease } from '@suzumio/store/turns/leases';
import { eventually } from '../../../test/support/poll.js';
import { type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create();
});
afterEach(() => bench.close());

const calls = () =>
  bench.testing.rows<{ tool: string; status: string; error_code: string | null }>(
    project,
    'SELECT tool, status, error_code FROM tool_calls ORDER BY rowid',
  );
const eventsSince = async (type: string) => {
  const events = await bench.testing.rows<{ type: string }>(project, 'SELECT type FROM events ORDER BY seq');
  const types = events.map((event) => event.type);
  return types.slice(types.indexOf(type));
};

/** Ends the running attempt as a lost worker would, and claims the turn anew. */
async function nextAttempt(attempt: Begun): Promise<Begun> {
  bench.testing.setNow(Date.now() + 60_000 * attempt.answer.attempt);
  await bench.testing.write(project, (tx) => expireLease(tx, { turn: attempt.turn, attempt: attempt.answer.attempt }));
  const { body } = await bench.claim(project, attempt.turn);
  return begun(bench, project, attempt.answer.input.agent.id, attempt.turn, body as never);
}

describe('messages.send', () => {
  test('writes a message that wakes its recipient, and says so', async () => {
    const attempt = await bench.begin(project, 'ada');
    bench.wakes.length = 0;
    const { status, body } = await attempt.tool('messages.send', { recipient: 'Benny', body: 'hello', priority: 'P0' });
    expect(status).toBe(200);
    expect(body['metadata']).toMatchObject({ recipients: ['ben'] });
    expect(await bench.testing.rows(project, 'SELECT recipient, priority FROM inbox')).toEqual([
      { recipient: 'ben', priority: 'P0' },
    ]);
    await eventually('the project is woken', () => bench.wakes.includes(project));
    expect(await eventsSince('tool.called')).toEqual(['tool.called', 'message.created']);
    expect(await calls()).toEqual([{ tool: 'messages.send', status: 'succeeded', error_code: null }]);
  });

  test('takes what is meant, and records what is written', async () => {
    const attempt = await bench.begin(project, 'ada');
    const written = { input: { recipient: 'ben', channel: null, body: '5', priority: 'p0', attachments: '[]' } };
    expect(await attempt.tool('messages.send', written, { step: '0.0' })).toMatchObject({ status: 200 });
    expect(await bench.testing.rows(project, 'SELECT recipient, priority FROM inbox')).toEqual([
      { recipient: 'ben', priority: 'P0' },
    ]);
    const kept = await bench.testing.rows<{ input_json: string }>(project, 'SELECT input_json FROM tool_calls');
    expect(kept).toEqual([{ input_json: JSON.stringify(written) }]);
    const other = await attempt.tool('messages.send', written.input, { step: '0.0' });
    expect(other.body['code']).toBe('journal-mismatch');
  });

  test.each([
    ['both recipient and channel', { recipient: 'ben', channel: '#team', body: 'x' }, 422, 'invalid-request'],
    ['neither', { body: 'x' }, 422, 'invalid-request'],
    ['an unknown recipient', { recipient: 'bob', body: 'x' }, 422, 'recipient-unknown'],
    ['itself', { recipient: 'ada', body: 'x' }, 422, 'recipient-self'],
    ['an unknown channel', { channel: '#nowhere', body: 'x' }, 422, 'channel-unknown'],
    ['an unknown priority', { recipient: 'ben', body: 'x', priority: 'P9' }, 422, 'tool-input-invalid'],
    ['a forged sender', { recipient: 'ben', body: 'x', sender: 'user' }, 422, 'tool-input-invalid'],
    ['an empty body', { recipient: 'ben', body: '' }, 422, 'tool-input-invalid'],
    ['no object at all', 'hello', 422, 'tool-input-invalid'],
    ['a body over the bound', { recipient: 'ben', body: 'é'.repeat(140_000) }, 422, 'tool-input-invalid'],
  ])('refuses %s', async (_name, input, status, code) => {
    const attempt = await bench.begin(project, 'ada');
    const answer = await attempt.tool('messages.send', input);
    expect(answer.body['code']).toBe(code);
    expect(answer.status).toBe(code === 'invalid-request' ? 400 : status);
    expect(await calls()).toEqual([{ tool: 'messages.send', status: 'failed', error_code: code }]);
    expect(await bench.testing.rows(project, `SELECT 1 AS one FROM messages WHERE sender = 'ada'`)).toEqual([]);
  });

  test('carries artifacts, which messages.read tells of; unknown ones are refused', async () => {
    const attempt = await bench.begin(project, 'ada');
    await attempt.tool('artifacts.publish', { path: 'level.md', ...(await attempt.upload('3.2 m\n')) });
    const sent = await attempt.tool('messages.send', { recipient: 'ben', body: 'See.', attachments: ['level.md'] });
    const { message } = sent.body['metadata'] as { message: string };
    expect((await attempt.tool('messages.read', { id: message })).body['metadata']).toMatchObject({
      attachments: [{ name: 'level.md', kind: 'file', sizeBytes: 6 }],
    });
    const refused = await attempt.tool('messages.send', { recipient: 'ben', body: 'See.', attachments: ['none.md'] });
    expect(refused).toMatchObject({ status: 422, body: { code: 'attachment-unknown' } });
    const many = Array.from({ length: 21 }, () => 'level.md');
    const tooMany = await attempt.tool('messages.send', { recipient: 'ben', body: 'See.', attachments: many });
    expect(tooMany.body['code']).toBe('tool-input-invalid');
  });

  test('a channel reaches its members but the sender; one that is no member may not post', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { body } = await attempt.tool('messages.send', { channel: '#team', body: 'all' });
    expect(body['metadata']).toMatchObject({ recipients: ['ben', 'cat'] });
    await attempt.report('complete', { output: { text: '' } });
  });
});

describe('messages.read', () => {
  test('reads what concerns the agent, and nothing else', async () => {
    const attempt = await bench.begin(project, 'ada', 'for ada');
    const [mail] = attempt.answer.input.turn.mail ?? [];
    expect((await attempt.tool('messages.read', { id: mail?.id })).body['output']).toBe('for ada');
    const ben = await bench.begin(project, 'ben', 'for ben');
    const [other] = ben.answer.input.turn.mail ?? [];
    expect((await attempt.tool('messages.read', { id: other?.id })).body['code']).toBe('message-unknown');
  });
});

describe('artifacts', () => {
  test('publishes, lists and reads a file with its facts', async () => {
    const attempt = await bench.begin(project, 'ada');
    const facts = await attempt.upload('level 3.2 m\n');
    const published = await attempt.tool('artifacts.publish', {
      path: 'out/level.md',
      description: 'The level',
      ...facts,
    });
    expect(published.status).toBe(200);
    expect(published.body['output']).toMatch(/^level\.md \(art_\w{26}\)$/);
    const [row] = await bench.testing.rows<Record<string, unknown>>(project, 'SELECT * FROM artifacts');
    expect(row).toMatchObject({
      creator: 'ada',
      turn_id: attempt.turn,
      name: 'level.md',
      workspace_path: 'out/level.md',
      sha256: facts.sha256,
      size_bytes: 12,
      description: 'The level',
    });
    const stored = readFileSync(join(bench.testing.cell.directory.projectDir(project), String(row?.['path'])));
    expect(createHash('sha256').update(stored).digest('hex')).toBe(facts.sha256);
    expect((await attempt.tool('artifacts.list', {})).body['output']).toContain(
      'level.md  12 bytes  by ada  The level',
    );
    expect((await attempt.tool('artifacts.read', { name: 'level.md' })).body['output']).toBe('level 3.2 m\n');
    expect((await attempt.tool('artifacts.read', { name: 'level.md', maxBytes: 5 })).body).toMatchObject({
      output: 'level',
      metadata: { truncated: true },
    });
    expect(await eventsSince('tool.called')).toEqual([
      'tool.called',
      'artifact.published',
      'tool.called',
      'tool.called',
      'tool.called',
    ]);
  });

  test.each([
    ['../secret', 'artifact-path-invalid'],
    ['a/../../secret', 'artifact-path-invalid'],
    ['/etc/passwd', 'artifact-path-invalid'],
    ['/workspace/../etc/passwd', 'artifact-path-invalid'],
    ['.', 'artifact-path-invalid'],
    ['a\0b', 'artifact-path-invalid'],
  ])('refuses the path %j', async (path, code) => {
    const attempt = await bench.begin(project, 'ada');
    const facts = await attempt.upload('x');
    expect((await attempt.tool('artifacts.publish', { path, ...facts })).body['code']).toBe(code);
    expect(await bench.testing.rows(project, 'SELECT 1 AS one FROM artifacts')).toEqual([]);
  });

  test('refuses content that was never uploaded, of another size, or that is not what its name says', async () => {
    const attempt = await bench.begin(project, 'ada');
    const sha256 = createHash('sha256').update('never sent').digest('hex');
    expect((await attempt.tool('artifacts.publish', { path: 'a', sha256 })).body['code']).toBe('content-missing');
    expect((await attempt.tool('artifacts.publish', { path: 'a' })).body['code']).toBe('content-missing');
    const facts = await attempt.upload('four');
    const wrongSize = { path: 'a', ...facts, sizeBytes: 5 };
    expect((await attempt.tool('artifacts.publish', wrongSize)).body['code']).toBe('content-mismatch');
    const url = `${bench.toolhost.runnerUrl}/content/${sha256}`;
    const put = await bench.put(url, attempt.answer.toolToken, Buffer.from('something else'));
    expect(put).toMatchObject({ status: 422, body: { code: 'content-mismatch' } });
  });

  test('reads no file as text that is none, and answers an unknown name', async () => {
    const attempt = await bench.begin(project, 'ada');
    const bytes = Buffer.from([0xff, 0xfe, 0x00]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await bench.put(`${bench.toolhost.runnerUrl}/content/${sha256}`, attempt.answer.toolToken, bytes);
    await attempt.tool('artifacts.publish', { path: 'image.bin', sha256 });
    expect((await attempt.tool('artifacts.read', { name: 'image.bin' })).body['code']).toBe('artifact-not-text');
    expect((await attempt.tool('artifacts.read', { name: 'none' })).body['code']).toBe('artifact-unknown');
  });
});

describe('a call that its agent may not make', () => {
  const filesOf = async (of: string) => {
    const found = await readdir(bench.testing.cell.directory.projectDir(of), { recursive: true, withFileTypes: true });
    return found.filter((entry) => entry.isFile() && !entry.name.startsWith('project.db')).map(({ name }) => name);
  };

  test('writes no file', async () => {
    const cat = await bench.begin(project, 'cat');
    const before = await filesOf(project);
    for (let call = 0; call < 3; call += 1) {
      const { body } = await cat.tool('completion.submit', { report: `Report ${String(call)}.` });
      expect(body['code']).toBe('tool-not-allowed');
    }
    expect(await filesOf(project)).toEqual(before);
  });

  test('writes no file after its turn has ended, and none beyond what a turn may call', async () => {
    project = await bench.testing.create(`
name: bounded
task: Work.
turn: { maxToolCalls: 1 }
backend: { runner: { mode: mock } }
agents:
  one: { role: worker, prompt: Work., tools: [completion.submit] }
`);
    const attempt = await bench.begin(project, 'one');
    expect((await attempt.tool('completion.submit', { report: 'Done.' })).status).toBe(200);
    const before = await filesOf(project);
    for (let call = 0; call < 4; call += 1) {
      expect((await attempt.tool('completion.submit', { report: `And ${String(call)}.` })).status).toBeGreaterThan(400);
    }
    expect(await filesOf(project)).toEqual(before);
  });

  test('leaves the beginning of its input, and the hash of the whole', async () => {
    const cat = await bench.begin(project, 'cat');
    const input = { body: 'é'.repeat(600_000) };
    expect((await cat.tool('messages.send', input)).status).toBe(403);
    const [row] = await bench.testing.rows<{ input_json: string }>(project, 'SELECT input_json FROM tool_calls');
    const kept = JSON.parse(row?.input_json ?? '') as { cut: string; sizeBytes: number; sha256: string };
    const whole = JSON.stringify(input);
    expect(row?.input_json.length).toBeLessThan(20_000);
    expect(whole.startsWith(kept.cut)).toBe(true);
    expect(kept).toMatchObject({
      sizeBytes: Buffer.byteLength(whole),
      sha256: createHash('sha256').update(whole).digest('hex'),
    });
  });
});

describe('completion.submit', () => {
  test('writes the report as a file, submits the project and ends the turn', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { body } = await attempt.tool('completion.submit', { report: '# Level\n3.2 m\n' });
    expect(body).toMatchObject({ endTurn: true, metadata: { version: 1 } });
    const [row] = await bench.testing.rows<{ status: string; report_path: string }>(
      project,
      'SELECT status, report_path FROM projects',
    );
    expect(row?.status).toBe('submitted');
    const file = join(bench.testing.cell.directory.projectDir(project), row?.report_path ?? '');
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('# Level\n3.2 m\n');
    expect(bench.testing.cell.catalog.projects.all()).toEqual([{ id: project, status: 'submitted' }]);
    const after = await attempt.tool('messages.send', { recipient: 'ben', body: 'one more thing' });
    expect(after).toMatchObject({ status: 409, body: { code: 'turn-ended' } });
    expect((await attempt.report('complete', { output: { text: 'Submitted.' } })).body).toEqual({ turn: 'completed' });
  });

  test('a report from before the latest request for changes is stale', async () => {
    const ada = await bench.begin(project, 'ada');
    const ben = await bench.begin(project, 'ben');
    await ada.tool('completion.submit', { report: 'one' });
    await ada.report('complete', { output: { text: '' } });
    await bench.testing.write(project, (tx) => requestChanges(tx, { recipient: 'ada', body: 'Again.', actor: 'test' }));
    expect(await ben.tool('completion.submit', { report: 'old' })).toMatchObject({
      status: 409,
      body: { code: 'stale-submit' },
    });
  });

  test('tools of a completed project are closed, and its turns are fenced', async () => {
    const ada = await bench.begin(project, 'ada');
    const ben = await bench.begin(project, 'ben');
    await ada.tool('completion.submit', { report: 'one' });
    await bench.testing.write(project, (tx) => approveProject(tx, 'test'));
    expect((await ben.tool('artifacts.list', {})).status).toBe(401);
    expect((await ben.report('heartbeat')).body['cancel']).toBe(true);
  });
});

describe('coordination.wait_for_signal', () => {
  test('records the reason and ends the turn, under its older name too', async () => {
    const attempt = await bench.begin(project, 'ada');
    const { body } = await attempt.tool('coordination.no_valuable_work', { reason: 'nothing to do' });
    expect(body['endTurn']).toBe(true);
    expect(await eventsSince('tool.called')).toEqual(['tool.called', 'agent.waiting']);
    expect((await calls()).map(({ tool }) => tool)).toEqual(['coordination.wait_for_signal']);
  });

  test('tells the agent named pm, unless told not to', async () => {
    const yaml = `
name: managed
task: Work.
backend: { runner: { mode: mock } }
agents:
  pm: { role: manager, prompt: Manage. }
  dev: { role: developer, prompt: Develop., tools: ["coordination.*"] }
`;
    project = await bench.testing.create(yaml);
    const first = await bench.begin(project, 'dev');
    await first.tool('coordination.wait_for_signal', { notifyPm: false });
    await first.report('complete', { output: { text: '' } });
    expect(await bench.testing.rows(project, 'SELECT recipient FROM inbox')).toEqual([]);
    const second = await bench.begin(project, 'dev');
    await second.tool('coordination.wait_for_signal', { reason: 'no task' });
    expect(await bench.testing.rows(project, `SELECT body FROM messages WHERE sender = 'dev'`)).toEqual([
      { body: 'dev waits for a signal: no task' },
    ]);
  });

  test('tells whoever coordinates, or whom the call names', async () => {
    const yaml = `
name: led
task: Work.
communication: { coordinatorAgent: lead }
backend: { runner: { mode: mock } }
agents:
  pm: { role: manager, prompt: Manage. }
  lead: { role: lead, prompt: Lead. }
  dev: { role: developer, prompt: Develop., tools: ["coordination.*"] }
`;
    project = await bench.testing.create(yaml);
    for (const input of [{}, { pm: 'pm' }, { pm: 'nobody' }]) {
      const attempt = await bench.begin(project, 'dev');
      expect((await attempt.tool('coordination.wait_for_signal', input)).body['endTurn']).toBe(true);
      await attempt.report('complete', { output: { text: '' } });
    }
    const told = `SELECT recipient FROM messages WHERE sender = 'dev' ORDER BY seq`;
    expect(await bench.testing.rows(project, told)).toEqual([{ recipient: 'lead' }, { recipient: 'pm' }]);
  });
});

describe('journal', () => {
  test('a repeated call returns its recorded result and has no further effect', async () => {
    const attempt = await bench.begin(project, 'ada');
    const call = () => attempt.tool('messages.send', { recipient: 'ben', body: 'once' }, { step: '0.0' });
    const answers = await Promise.all([call(), call(), call()]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await bench.testing.rows(project, `SELECT 1 AS one FROM messages WHERE sender = 'ada'`)).toHaveLength(1);
    expect(await calls()).toHaveLength(1);
  });

  test('a later attempt repeats no effect, and goes on where the journal ends', async () => {
    const first = await bench.begin(project, 'ada');
    const sent = await first.tool('messages.send', { recipient: 'ben', body: 'once' }, { step: '0.0' });
    const failed = await first.tool('messages.send', { recipient: 'bob', body: 'never' }, { step: '1.0' });
    const second = await nextAttempt(first);
    expect(await second.tool('messages.send', { body: 'once', recipient: 'ben' }, { step: '0.0' })).toEqual(sent);
    expect(await second.tool('messages.send', { recipient: 'bob', body: 'never' }, { step: '1.0' })).toEqual(failed);
    await second.tool('messages.send', { recipient: 'ben', body: 'twice' }, { step: '2.0' });
    expect(await bench.testing.rows(project, `SELECT body FROM messages WHERE sender = 'ada'`)).toEqual([
      { body: 'once' },
      { body: 'twice' },
    ]);
  });

  test('a publication is the same call although the file was read again', async () => {
    const attempt = await bench.begin(project, 'ada');
    const before = await attempt.upload('before');
    const after = await attempt.upload('after');
    const first = await attempt.tool('artifacts.publish', { path: 'a.md', ...before }, { step: '0.0' });
    expect(await attempt.tool('artifacts.publish', { path: 'a.md', ...after }, { step: '0.0' })).toEqual(first);
    expect(await bench.testing.rows(project, 'SELECT sha256 FROM artifacts')).toEqual([{ sha256: before.sha256 }]);
  });

  test('another call under a known step is refused, and recorded', async () => {
    const attempt = await bench.begin(project, 'ada');
    await attempt.tool('messages.send', { recipient: 'ben', body: 'one' }, { step: '0.0' });
    const other = await attempt.tool('messages.send', { recipient: 'ben', body: 'another' }, { step: '0.0' });
    expect(other).toMatchObject({ status: 409, body: { code: 'journal-mismatch' } });
    expect((await calls()).at(-1)).toEqual({
      tool: 'messages.send',
      status: 'refused',
      error_code: 'journal-mismatch',
    });
    expect(await bench.testing.rows(project, 'SELECT status FROM turns')).toEqual([{ status: 'running' }]);
  });

  test('calls without a step are counted; another n-th call in a later attempt fails the turn', async () => {
    const first = await bench.begin(project, 'ada');
    const one = await first.tool('messages.send', { recipient: 'ben', body: 'one' });
    await first.tool('messages.send', { recipient: 'ben', body: 'two' });
    const second = await nextAttempt(first);
    expect(await second.tool('messages.send', { recipient: 'ben', body: 'one' })).toEqual(one);
    const mismatch = await second.tool('messages.send', { recipient: 'ben', body: 'not two' });
    expect(mismatch).toMatchObject({ status: 409, body: { code: 'journal-mismatch' } });
    expect(
      await bench.testing.rows(
        project,
        `SELECT status, failure_json ->> 'code' AS code FROM turns WHERE agent_id = 'ada'`,
      ),
    ).toEqual([{ status: 'failed', code: 'journal-mismatch' }]);
    expect((await second.report('heartbeat')).body['cancel']).toBe(true);
  });

  test('tools off the allowlist and unknown tools are refused with what there is', async () => {
    const cat = await bench.begin(project, 'cat');
    expect(await cat.tool('messages.send', { recipient: 'ben', body: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'tool-not-allowed', detail: 'Agent cat may not use messages.send; its tools are: none.' },
    });
    expect(await calls()).toEqual([{ tool: 'messages.send', status: 'refused', error_code: 'tool-not-allowed' }]);
    const ada = await bench.begin(project, 'ada');
    expect((await ada.tool('messages.sned', {})).body['code']).toBe('tool-unknown');
  });

  test('a turn makes as many calls as it may, and no more', async () => {
    project = await bench.testing.create(`
name: bounded
task: Work.
turn: { maxToolCalls: 2 }
backend: { runner: { mode: mock } }
agents:
  one: { role: worker, prompt: Work., tools: ["artifacts.list"] }
`);
    const attempt = await bench.begin(project, 'one');
    const statuses: number[] = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await attempt.tool('artifacts.list', {})).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
