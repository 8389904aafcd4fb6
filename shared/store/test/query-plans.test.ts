import { expect, jest, test } from '@jest/globals';
import type { SqlReader, SqlValue } from '@suzumio/store/sqlite/sql';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { once } from '@suzumio/store/sqlite/once';
import { searchText } from '@suzumio/contract/model/search';
import { listEvents } from '@suzumio/store/projects/events';
import { pushToShared } from '@suzumio/store/turns/push-to-shared';
import { dueLook, isPackOfTurn, recordLook, workspaceRepository } from '@suzumio/store/turns/upstream-looks';
import { recordBase, repositoryOfAgent } from '@suzumio/store/turns/workspace-base';
import { isUpstreamPack } from '@suzumio/store/content/upstream-packs';
import { readReply } from '@suzumio/store/turns/read-reply';
import { listToolCalls, listTurns } from '@suzumio/store/turns/read-turns';
import { isPublished, listArtifacts, newestArtifactOfAll, newestVersions } from '@suzumio/store/content/artifacts';
import {
  isPushed,
  listSharedPushes,
  listSharedRefs,
  sharedPacks,
  sharedRefs,
} from '@suzumio/store/content/shared-repository';
import { handlerPresence, mailOfTurn, turnsForHandler } from '@suzumio/store/turns/handlers';
import { indexFor } from '@suzumio/store/mail/index-messages';
import { listMessages } from '@suzumio/store/mail/messages';
import { listThreads } from '@suzumio/store/mail/threads';
import { listTasks } from '@suzumio/store/mail/tasks';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { turnOfClaim } from '@suzumio/store/turns/claimable';
import { noteHandler } from '@suzumio/store/turns/note-handler';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { othersSeen } from '@suzumio/store/content/artifacts-seen';
import { publishLeft, Unpublished } from '@suzumio/store/content/publish-left';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { watchTurnEnd } from '@suzumio/store/protection/watch';
import Database from 'better-sqlite3';
import { teamYaml, withModel } from '../../../test/support/cell.js';
import { hashes, teams } from './team.js';

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
  'git_pushes',
  'git_packs',
  'upstream_looks',
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
    othersSeen(tx, { agent: 'ben', upTo: newestArtifactOfAll(tx) });
    const left = { snapshot: null, artifacts: [{ ...artifact, name: 'b.md' }], unpublished: new Unpublished() };
    publishLeft(tx, { id: attempt.turn, agent_id: 'ada' }, left);
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
  // Unread, at work, answered: a wait for a reply looks each time that something happens.
  const asked = await team.write((tx) => postMessage(tx, { ...message, sender: 'user', recipient: 'ada' }).id);
  for (const one of [asked, task]) readReply(team.store.reader, one);
  const done = {
    ...message,
    sender: 'ben',
    recipient: undefined,
    message: task,
    task: 'done' as const,
  };
  await team.write((tx) => replyToMessage(tx, done));
  expect(readReply(team.store.reader, task).state).toBe('replied');
  await team.fail(begun, 'worker-lost');
  await team.approve().catch(() => undefined);

  const statements = prepared(prepare);
  expect(statements.length).toBeGreaterThan(30);
  expect(scansIn(team.store.reader, statements)).toEqual([]);
});

test.each(['asc', 'desc'] as const)('no list looks through history in the order %s', async (order) => {
  const team = await makeTeam();
  const message = { sender: 'ada', recipient: 'ben', priority: 'P1' as const, body: 'Done.', actor: 'ada' };
  await team.write((tx) => postMessage(tx, message));
  await indexFor(team.store, { limit: 10 }, { after: 0, before: Number.MAX_SAFE_INTEGER });
  const prepare = jest.spyOn(Database.prototype, 'prepare');
  const { reader } = team.store;
  const time = { since: team.nowMs, until: team.nowMs + 1 };
  const search = searchText.parse('done');
  for (const place of [{}, { after: 1 }, { before: 9 }, { after: 1, before: 9 }]) {
    const page = { limit: 10, order, ...place };
    for (const narrowed of [{}, time]) {
      const wanted = { ...page, ...narrowed };
      listMessages(reader, wanted);
      listMessages(reader, { ...wanted, sender: 'ada', recipient: 'ben', priority: 'P1' });
      listMessages(reader, { ...wanted, channel: '#team', search });
      for (const state of ['unread', 'read', 'undelivered'] as const) listMessages(reader, { ...wanted, state });
      listMessages(reader, { ...wanted, turn: 'turn_1' });
      listTurns(reader, { ...wanted, include: ['attempts', 'wokenBy', 'asked'] });
      listTurns(reader, { ...wanted, agent: 'ada', status: 'failed' });
      listToolCalls(reader, { ...wanted, agent: 'ada', tool: 'messages.send', status: 'refused' });
      listEvents(reader, wanted);
      listEvents(reader, { ...wanted, types: ['turn.failed'], agent: 'ada' });
      listArtifacts(reader, wanted);
      listArtifacts(reader, { ...wanted, creator: 'ada', prefix: 'a' });
      listArtifacts(reader, { ...wanted, latest: true });
      listArtifacts(reader, { ...wanted, latest: true, creator: 'ada', name: 'a.md' });
      newestVersions(reader, { after: 0, limit: 10, upTo: newestArtifactOfAll(reader), creator: 'ada' });
    }
    listThreads(reader, page);
    listTasks(reader, { ...page, state: 'open', assignee: 'ben', assigner: 'user', role: 'reader' });
    listTasks(reader, { ...page, search });
  }
  const statements = prepared(prepare);
  expect(statements.length).toBeGreaterThan(30);
  expect(scansIn(reader, statements)).toEqual([]);
});

test('a push looks through no earlier ones, and a fetch reads those that have brought something since', async () => {
  const team = await makeTeam(`${teamYaml}git: { shared: true }\n`);
  const prepare = jest.spyOn(Database.prototype, 'prepare');
  const attempt = await team.work('ada');
  const push = { key: 'the-first-push', updates: [{ ref: 'refs/heads/suzumio/ada', from: null, to: '1'.repeat(40) }] };
  const at = { ...attempt, tokenHash: hashes(attempt.attempt).tool };
  await team.write((tx) => pushToShared(tx, at, push, { sha256: 'f'.repeat(64), sizeBytes: 100, objects: 3 }));
  const { reader } = team.store;
  sharedRefs(reader);
  listSharedRefs(reader);
  isPushed(reader, 'f'.repeat(64));
  expect(sharedPacks(reader, 0, 10)).toHaveLength(1);
  listSharedPushes(reader, { limit: 10, order: 'asc', after: 1 });
  const statements = prepared(prepare);
  expect(scansIn(reader, statements)).toEqual([]);
  const fetch = statements.find((source) => source.includes('push_seq > :after'));
  expect(plan(reader, fetch ?? '')).toEqual([
    'SEARCH git_packs USING INTEGER PRIMARY KEY (rowid>?)',
    'SEARCH git_pushes USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
});

test('a look at the repository of a clone goes through no earlier ones', async () => {
  const team = await makeTeam(teamYaml.replace('ada: { ', 'ada: { workspace: { git: /srv/tides }, '));
  const first = await team.work('ada');
  const { reader, config } = team.store;
  const commit = '1'.repeat(40);
  await team.write((tx) => recordBase(tx, config, first, { commit, snapshot: 'f'.repeat(64) }));
  await team.complete(first);
  const prepare = jest.spyOn(Database.prototype, 'prepare');
  const attempt = await team.work('ada');
  expect(dueLook(reader, config, attempt.turn)).toMatchObject({ known: [commit] });
  const pack = { sha256: 'e'.repeat(64), sizeBytes: 100, alone: true };
  await team.write((tx) => recordLook(tx, config, attempt, { commit: '2'.repeat(40), rewritten: false, pack }));
  expect(isPackOfTurn(reader, attempt.turn, pack.sha256)).toBe(true);
  expect(isUpstreamPack(reader, pack.sha256)).toBe(true);
  repositoryOfAgent(reader, config, 'ada', attempt.turn);
  workspaceRepository(reader, config, 'ada');
  expect(scansIn(reader, prepared(prepare))).toEqual([]);
});

/** The statements of projects that were prepared meanwhile. */
function prepared(prepare: jest.SpiedFunction<Database.Database['prepare']>): string[] {
  const { calls, contexts } = prepare.mock;
  const ofProject = calls.filter((_call, index) => (contexts[index] as Database.Database).name.endsWith('project.db'));
  prepare.mockRestore();
  return [...new Set(ofProject.map(([source]) => source))];
}

/** What looks through a table that grows; an index of the turns that failed or were cancelled has only those. */
function scansIn(reader: SqlReader, statements: readonly string[]): string[] {
  return statements
    .filter((source) => /^\s*(SELECT|UPDATE|DELETE)/.test(source))
    .flatMap((source) => plan(reader, source).map((detail) => `${detail}: ${source}`))
    .filter((found) => history.some((table) => found.startsWith(`SCAN ${table}`)))
    .filter((found) => !found.startsWith('SCAN turns USING INDEX turns_undelivered_agent'));
}

function plan(reader: SqlReader, source: string): string[] {
  const parameters: Record<string, SqlValue> = {};
  for (const [, name = ''] of source.matchAll(/:(\w+)/g)) parameters[name] = 1;
  return reader.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${source}`, parameters).map(({ detail }) => detail);
}
