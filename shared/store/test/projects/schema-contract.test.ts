import { describe, expect, test } from '@jest/globals';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { postMessage } from '@suzumio/store/mail/post-message';
import { start, teams } from '../team.js';

const team = teams();

/** The tables that tools outside may rely on, with what each is for and the columns that say it. */
const contract = {
  projects: ['id', 'status', 'task', 'config_json', 'report_path'],
  agents: ['id', 'role', 'prompt', 'model', 'tools_json', 'state', 'token_hash', 'active_turn_id'],
  messages: ['id', 'sender', 'recipient', 'channel', 'priority', 'body', 'created_at_ms'],
  message_reads: ['message_id', 'recipient', 'turn_id', 'read_at_ms', 'voided_at_ms'],
  turns: ['id', 'agent_id', 'status', 'prompt', 'output_text', 'queued_at_ms', 'started_at_ms', 'ended_at_ms'],
  events: ['seq', 'type', 'actor', 'agent_id', 'turn_id', 'data_json', 'created_at_ms'],
  tool_calls: ['id', 'turn_id', 'agent_id', 'tool', 'input_json', 'status', 'output_json', 'error_code'],
  message_attachments: ['message_seq', 'position', 'artifact_id'],
  artifacts: ['id', 'creator', 'turn_id', 'name', 'kind', 'path', 'sha256', 'description', 'created_at_ms'],
};

describe('a project’s database', () => {
  test.each(Object.entries(contract))('has the table %s with its columns', async (table, columns) => {
    const of = await team();
    const found = of.rows<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => name);
    expect(found).toEqual(expect.arrayContaining(columns));
  });

  test('says of one turn, in order, all that happened', async () => {
    const of = await team();
    const begun = await of.work('ada');
    const sha256 = 'f'.repeat(64);
    const artifact = { creator: 'ada', turn: begun.turn, name: 'a.md', path: 'artifacts/ff/f', sha256, sizeBytes: 3 };
    await of.call(begun, 'ada', { step: '0.0', tool: 'artifacts.publish' }, (tx) => {
      return { output: publishArtifact(tx, { ...artifact, description: 'A file.' }).id };
    });
    await of.call(begun, 'ada', { step: '1.0' }, (tx) => {
      const { id } = postMessage(tx, {
        sender: 'ada',
        recipient: 'ben',
        priority: 'P1',
        body: 'See a.md.',
        turn: begun.turn,
        actor: 'ada',
      });
      return { output: id };
    });
    await of.submit(begun, 'ada');
    await of.complete(begun, 'I have written a.md.');
    expect(of.events()).toEqual([
      'project.initialized',
      'project.started',
      'message.created',
      'turn.queued',
      'turn.started',
      'tool.called',
      'artifact.published',
      'tool.called',
      'message.created',
      'project.submitted',
      'turn.completed',
    ]);
    expect(of.rows('SELECT creator, turn_id, name, path, sha256, description, created_at_ms FROM artifacts')).toEqual([
      {
        creator: 'ada',
        turn_id: begun.turn,
        name: 'a.md',
        path: 'artifacts/ff/f',
        sha256,
        description: 'A file.',
        created_at_ms: start,
      },
    ]);
    expect(of.rows('SELECT status, report_path FROM projects')).toEqual([
      { status: 'submitted', report_path: 'reports/x.md' },
    ]);
    expect(of.rows('SELECT body FROM messages ORDER BY seq')).toEqual([{ body: 'For ada.' }, { body: 'See a.md.' }]);
  });
});
