import { expect, jest, test } from '@jest/globals';
import type { SqlReader, SqlValue } from '@suzumio/store/sqlite/sql';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { once } from '@suzumio/store/sqlite/once';
import { isPublished } from '@suzumio/store/content/artifacts';
import { handlerPresence, mailOfTurn, turnsForHandler } from '@suzumio/store/turns/handlers';
import { listTasks } from '@suzumio/store/mail/tasks';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { turnOfClaim } from '@suzumio/store/turns/claimable';
import { noteHandler } from '@suzumio/store/turns/note-handler';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { watchTurnEnd } from '@suzumio/store/protection/watch';
import Database from 'better-sqlite3';
import { teamYaml, withModel } from '../../../test/support/cell.js';
import { teams } from './team.js';

const makeTeam = teams();
/** Tables that grow for as long as a project runs. */
const history = [
  'messages',
  'message_reads',
  'turns',
  'turn_attempts',
  'turn_steps',
  'tool_calls',
  'artifacts',
  'directory_contents',
  'message_attachments',
  'events',
  'tasks',
];

test('nothing in a turn looks through history', async () => {
  const prepare = jest.spyOn(Database.prototype, 'prepare');
  const team = await makeTeam(withModel(teamYaml));
  const attempt = await team.work('ada');
  const message = { sender: 'ada', recipient: 'ben', priority: 'P1' as const, body: 'Done.', actor: 'ada' };
  let task = '';
  await team.call(attempt, 'ada', {}, (tx) => {
    const artifact = { creator: 'ada', name: 'a.md', path: 'artifacts/ff/f', sha256: 'f'.repeat(64), sizeBytes: 3 };
    publishArtifact(tx, { ...artifact, directory: { files: 1, contents: ['e'.repeat(64)] } });
    isPublished(tx, 'e'.repeat(64));
    postMessage(tx, { ...message, turn: attempt.turn, attachments: ['a.md'] });
    const { id } = postMessage(tx, { ...message, sender: 'user', recipient: 'ada' });
    expect(() => replyToMessage(tx, { ...message, message: id, turn: attempt.turn })).toThrow('has not seen');
    broadcast(tx, message);
    task = assignTask(tx, { ...message, role: 'reader' }).id;
    listTasks(tx, { limit: 10, state: 'open', assignee: 'ben', assigner: 'ada' });
    return { output: null };
  });
  await team.write((tx) => {
    watchTurnEnd(tx, { id: attempt.turn, agent_id: 'ada' }, { text: '', madeSomething: false });
  });
  await team.complete(attempt);
  const key = { token: 'admin', route: 'POST /', key: 'k', requestHash: 'h' };
  await team.write((tx) => once(tx, key, () => ({ ...postMessage(tx, { ...message, sender: 'user' }) })));
  await team.schedule();
  await team.write((tx) => {
    for (const { turn, delivery } of deliverableTurns(tx, tx.nowMs)) deliverTurn(tx, turn, delivery);
  });
  const begun = await team.begin(team.activeTurn('ben') ?? '');
  turnsForHandler(team.store.reader, { agents: ['ada'], nowMs: team.nowMs });
  turnOfClaim(team.store.reader, 'f'.repeat(32));
  mailOfTurn(team.store.reader, begun.turn);
  await team.write((tx) => noteHandler(tx, 'desk', ['ada']));
  handlerPresence(team.store.reader, 'ada', team.nowMs);
  const done = {
    ...message,
    sender: 'ben',
    recipient: undefined,
    message: task,
    task: 'done' as const,
  };
  await team.write((tx) => replyToMessage(tx, done));
  await team.fail(begun, 'worker-lost');
  await team.approve().catch(() => undefined);

  const { calls, contexts } = prepare.mock;
  const ofProject = calls.filter((_call, index) => (contexts[index] as Database.Database).name.endsWith('project.db'));
  const statements = new Set(ofProject.map(([source]) => source));
  prepare.mockRestore();
  expect(statements.size).toBeGreaterThan(30);
  const scans = [...statements]
    .filter((source) => /^\s*(SELECT|UPDATE|DELETE)/.test(source))
    .flatMap((source) => plan(team.store.reader, source).map((detail) => `${detail}: ${source}`))
    .filter((found) => history.some((table) => found.startsWith(`SCAN ${table}`)));
  expect(scans).toEqual([]);
});

function plan(reader: SqlReader, source: string): string[] {
  const parameters: Record<string, SqlValue> = {};
  for (const [, name = ''] of source.matchAll(/:(\w+)/g)) parameters[name] = 1;
  return reader.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${source}`, parameters).map(({ detail }) => detail);
}
