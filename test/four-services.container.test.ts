import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const projectFile = (name: string, image: string) => `
name: ${name}
task: Publish a note and hand it in.
channels: ["#notes"]
backend:
  image: ${image}
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - agent: writer
        when: { from: user }
        steps:
          - write: { path: note.md, text: "A note by {{agent.id}}." }
          - tool: artifacts.publish
            input: { path: note.md, description: "The note" }
          - tool: messages.send
            input: { recipient: lead, body: "The note is published." }
          - text: Published.
      - agent: lead
        when: { from: writer }
        steps:
          - tool: artifacts.read
            input: { name: note.md }
          - tool: completion.submit
            input: { report: "# Report\\n{{steps.0.output}}\\n" }
agents:
  lead: { role: lead, prompt: Wait and submit., tools: [artifacts.read, completion.submit] }
  writer: { role: writer, prompt: Write., tools: [messages.send, artifacts.publish] }
`;

describe.each(['socket', 'stdio'] as const)('four services over Redis and Docker, through the %s door', (door) => {
  let stack: Stack;
  const project = `notes-${door}`;
  const runnerImage = `suzumio-e2e-runner:${door}`;
  const foreignImage = `suzumio-e2e-foreign:${door}`;

  beforeAll(async () => {
    await docker('tag', 'suzumio-runner:dev', runnerImage);
    await docker(
      'build',
      '--quiet',
      '--tag',
      foreignImage,
      fileURLToPath(new URL('fixtures/foreign-runner', import.meta.url)),
    );
    stack = await startStack({ door });
  });
  afterAll(async () => {
    await stack.stop();
    await docker('image', 'rm', '--force', runnerImage, foreignImage);
    expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`)).toBe('');
  });

  const status = async () =>
    ((await stack.api('GET', `/projects/${project}`)).body as { project: { status: string } }).project.status;
  const state = async (agent: string) => {
    const { body } = await stack.api('GET', `/projects/${project}/agents`);
    return (body as { items: { id: string; state: string; turns: number }[] }).items.find(({ id }) => id === agent);
  };

  test('a message becomes turns, an artifact, and a report that is approved', async () => {
    const file = projectFile(project, runnerImage);
    expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
    const sent = await stack.api('POST', `/projects/${project}/messages`, { recipient: 'writer', body: 'Begin.' });
    expect(sent.status).toBe(201);
    await eventually('the report is submitted', async () => (await status()) === 'submitted');
    await eventually('the lead has ended', async () => (await state('lead'))?.state === 'quiet');
    expect((await stack.api('POST', `/projects/${project}/approve`, {})).status).toBe(200);

    const database = openProject(stack.root, project);
    try {
      expect(brokenInvariants(database)).toEqual([]);
      const types = database.all<{ type: string }>(
        `SELECT type FROM events WHERE turn_id = (SELECT id FROM turns WHERE agent_id = 'writer') ORDER BY seq`,
      );
      expect(types.map(({ type }) => type)).toEqual([
        'turn.queued',
        'turn.started',
        // Its script writes a file, and publishes it.
        'tool.called',
        'tool.called',
        'artifact.published',
        'tool.called',
        'message.created',
        'turn.completed',
      ]);
      const [artifact] = database.all<{ path: string; sha256: string; turn_id: string }>('SELECT * FROM artifacts');
      expect(readFileSync(join(stack.root, 'projects', project, artifact?.path ?? ''), 'utf8')).toBe(
        'A note by writer.',
      );
      const [row] = database.all<{ status: string; report_path: string }>('SELECT status, report_path FROM projects');
      expect(row?.status).toBe('completed');
      const report = join(stack.root, 'projects', project, row?.report_path ?? '');
      expect(readFileSync(report, 'utf8')).toBe('# Report\nA note by writer.\n');
      const attempts = database.all<{ engine: string; stats: string }>(
        `SELECT engine, stats_json ->> 'container' AS stats FROM turn_attempts`,
      );
      expect(attempts).toHaveLength(2);
      for (const { stats } of attempts) expect(stats).toMatch(/^[0-9a-f]{12,64}$/);
    } finally {
      database.close();
    }
  });

  test('the runner image is replaced by one that knows only the contract, and nothing else changes', async () => {
    await docker('tag', foreignImage, runnerImage);
    const changes = { recipient: 'writer', body: 'Once more, with another runner.' };
    expect((await stack.api('POST', `/projects/${project}/request-changes`, changes)).status).toBe(200);
    await eventually('the second turn has ended', async () => {
      const writer = await state('writer');
      return writer?.turns === 2 && writer.state !== 'running';
    });
    const database = openProject(stack.root, project);
    try {
      const [turn] = database.all<{ status: string; output_text: string }>(
        `SELECT status, output_text FROM turns WHERE agent_id = 'writer' AND number = 2`,
      );
      expect(turn).toMatchObject({ status: 'completed' });
      expect(turn?.output_text).toMatch(/^Counted \d+ lines\.$/);
      const calls = database.all<{ tool: string; step: string; status: string }>(
        `SELECT tool, step, tool_calls.status FROM tool_calls JOIN turns ON turns.id = turn_id
         WHERE turns.agent_id = 'writer' AND turns.number = 2 ORDER BY tool_calls.rowid`,
      );
      expect(calls).toEqual([
        { tool: 'artifacts.publish', step: 'seq.1', status: 'succeeded' },
        { tool: 'messages.send', step: 'seq.2', status: 'succeeded' },
      ]);
      const published = database.all<{ path: string }>(`SELECT path FROM artifacts WHERE name = 'writer-count.md'`);
      expect(published).toHaveLength(1);
      expect(existsSync(join(stack.root, 'projects', project, published[0]?.path ?? ''))).toBe(true);
    } finally {
      database.close();
    }
  });
});
