import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { verifyProject } from '@suzumio/store/cell/verify';
import { findArtifact, listAttachments, requireContent } from '@suzumio/store/content/artifacts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { type NewArtifact, publishArtifact } from '@suzumio/store/content/publish-artifact';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { findTurn } from '@suzumio/store/turns/read-turns';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableArtifact } from '@suzumio/store/redaction/redact-artifact';
import { teamYaml, withModel } from '../../../../test/support/cell.js';
import { start, type Team, teams } from '../team.js';
import { answered, answerOf, ask, call, dirOf, filesWith, placeOf } from './support.js';

const team = teams();
const text = 'station,key\nnorth,szmneedle7f3a "quoted" \\ \n';
const description = 'The keys szmneedle7f3a of all gauges';
const asked = { actor: 'ops', because: null };
const redacted = { at: new Date(start).toISOString(), by: 'ops', because: null };
const words = `This artifact was redacted by ops at ${redacted.at}.`;

const contentOf = (of: Team) => new ContentStore(dirOf(of));
const store = (of: Team, bytes: string, owner = 'user') =>
  of.store.content.put(contentOf(of), [Buffer.from(bytes)], { owner, kind: owner === 'user' ? 'uploads' : 'content' });
const isStored = (of: Team, sha256: string) => existsSync(join(dirOf(of), contentOf(of).pathOf(sha256)));
const flaws = async (of: Team) => (await verifyProject(new ReadOnlyCell(of.testing.root), of.project)).flaws;

async function publish(of: Team, bytes = text, change: Partial<NewArtifact> = {}) {
  const { sha256, sizeBytes } = await store(of, bytes);
  const path = contentOf(of).pathOf(sha256);
  const artifact = { creator: 'user', name: 'keys.csv', path, sha256, sizeBytes, description, ...change };
  const { id } = await of.write((tx) => publishArtifact(tx, artifact));
  return { id, sha256, sizeBytes };
}

async function publishDirectory(of: Team, files: Record<string, string>) {
  const entries = await Promise.all(
    Object.entries(files).map(async ([path, bytes]) => {
      const stored = await store(of, bytes);
      return { kind: 'file', path, ...stored, executable: false };
    }),
  );
  const directory = { files: entries.length, contents: entries.map(({ sha256 }) => sha256) };
  return publish(of, JSON.stringify({ version: 1, entries }), { name: 'keys', directory });
}

async function redactArtifact(of: Team, id: string) {
  const artifact = findArtifact(of.store.reader, { id });
  if (!artifact) throw new Error('there is no such artifact');
  return redact(placeOf(of), await redactableArtifact(artifact, contentOf(of)), asked);
}

describe('redacting an artifact', () => {
  test('removes its bytes from every file of the project', async () => {
    const of = await team(withModel(teamYaml));
    const { id, sha256, sizeBytes } = await publish(of);
    await of.mail('ada', { body: `These:\n> ${text.trim().replace('\n', '\n> ')}`, attachments: [id] });
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    const calls = [
      { id: 'r', name: 'artifacts_read', arguments: JSON.stringify({ id }) },
      { id: 'w', name: 'artifacts_read', arguments: JSON.stringify({ id, to: 'k.csv' }) },
      { id: 'f', name: 'files_write', arguments: JSON.stringify({ path: 'k.csv', content: text }) },
      { id: 'l', name: 'artifacts_list', arguments: '{}' },
    ];
    await answered(of, begun, '1', answerOf(calls));
    const handed = { id, name: 'keys.csv', kind: 'file', files: 1, sha256, sizeBytes };
    await call(
      of,
      begun,
      'ada',
      '1.0',
      'artifacts.read',
      { id },
      {
        output: text.slice(0, 20),
        metadata: { id, name: 'keys.csv', sizeBytes, truncated: true },
      },
    );
    await call(
      of,
      begun,
      'ada',
      '1.1',
      'artifacts.read',
      { id, to: 'k.csv' },
      {
        output: `keys.csv (${id}), to be fetched`,
        metadata: { ...handed, to: 'k.csv' },
      },
    );
    await call(
      of,
      begun,
      'ada',
      '1.3',
      'artifacts.list',
      {},
      {
        output: `${id}  keys.csv  46 bytes  by user  ${description}`,
        metadata: { artifacts: [{ id, name: 'keys.csv', description }] },
      },
    );
    await writeTurnLog(dirOf(of), { turn_id: begun.turn, number: 1 }, Buffer.from(text));

    expect(await redactArtifact(of, id)).toEqual({ id, redacted, left: [] });
    expect(await filesWith(of, 'szmneedle7f3a')).toEqual([]);
    expect(isStored(of, sha256)).toBe(false);
    expect(await flaws(of)).toEqual([]);
    expect(findArtifact(of.store.reader, { id })).toMatchObject({
      name: 'keys.csv',
      sha256,
      description: null,
      redacted,
    });
    expect(listAttachments(of.store.reader, 1)).toMatchObject([{ id, redacted: true }]);
    expect(findTurn(of.store.reader, begun.turn)?.calls.map(({ output }) => output)).toEqual([
      { code: 'artifact-redacted', message: words },
      { code: 'artifact-redacted', message: words },
      `${id}  keys.csv  46 bytes  by user  [redacted]`,
    ]);
    expect(of.rows(`SELECT actor, data_json FROM events WHERE type = 'artifact.redacted'`)).toEqual([
      { actor: 'ops', data_json: JSON.stringify({ artifact: id, name: 'keys.csv', because: null }) },
    ]);
    // Its reader goes on without it: what it had read cannot be fetched again.
    const next = await of.begin(begun.turn);
    expect(await ask(of, next, '1', 'without it')).toMatchObject({ state: 'recorded' });
    const again = await call(of, next, 'ada', '1.0', 'artifacts.read', { id }, {});
    expect(again).toMatchObject({ replayed: true, result: { ok: false, code: 'artifact-redacted' } });
  });

  test('removes a short text from the call that published it, and from the answer that asked for the call', async () => {
    const of = await team(withModel(teamYaml));
    const begun = await of.work('ada');
    const input = { name: 'pin.txt', content: 'szm4471' };
    await answered(
      of,
      begun,
      '1',
      answerOf([{ id: 'p', name: 'artifacts_publish', arguments: JSON.stringify(input) }]),
    );
    const { id } = await publish(of, input.content, { name: input.name, creator: 'ada', turn: begun.turn });
    const told = { output: `pin.txt (${id})`, metadata: { id, name: input.name } };
    await call(of, begun, 'ada', '1.0', 'artifacts.publish', input, told);
    await redactArtifact(of, id);
    expect(findTurn(of.store.reader, begun.turn)?.calls).toMatchObject([
      { input: { name: 'pin.txt', content: '[redacted]' }, output: `pin.txt (${id})` },
    ]);
    const [step] = of.rows<{ result: string }>(`SELECT result_json AS result FROM turn_steps WHERE key = '1'`);
    expect(step?.result).toContain('[redacted]');
    expect(step?.result).not.toContain('szm4471');
    // Its writer makes the call again with what it knows now.
    const next = await of.begin(begun.turn);
    const again = await call(of, next, 'ada', '1.0', 'artifacts.publish', { ...input, content: '[redacted]' }, {});
    expect(again).toMatchObject({ replayed: true, result: { ok: true, response: told } });
  });

  test('is done once, and goes on with what the first time had to leave', async () => {
    const of = await team();
    const { id, sha256 } = await publish(of);
    // A turn runs that may have been told that the content is there.
    const begun = await of.work('ada');
    const first = await redactArtifact(of, id);
    expect(first).toMatchObject({
      redacted,
      left: [{ what: 'content', detail: expect.stringContaining('a turn that runs') }],
    });
    expect(isStored(of, sha256)).toBe(true);
    await of.complete(begun);
    of.advance(1_000);
    expect(await redactArtifact(of, id)).toEqual({ id, redacted, left: [] });
    expect(isStored(of, sha256)).toBe(false);
    expect(of.events().filter((type) => type === 'artifact.redacted')).toHaveLength(1);
  });

  test('does not wait for turns that have not asked for the content', async () => {
    const of = await team();
    const { id, sha256 } = await publish(of);
    const before = new Date(start - 60_000);
    await utimes(join(dirOf(of), contentOf(of).pathOf(sha256)), before, before);
    await of.work('ada');
    expect(await redactArtifact(of, id)).toMatchObject({ left: [] });
    expect(isStored(of, sha256)).toBe(false);
  });

  test('gives back what its bytes and its description were charged', async () => {
    const of = await team();
    const charged = () => of.rows(`SELECT kind, bytes FROM stored_bytes WHERE owner = 'user' AND bytes <> 0`);
    const { id } = await publish(of, 'x'.repeat(10_000));
    await of.write(() => undefined);
    expect(charged()).toEqual([
      { kind: 'rows', bytes: 128 + 'keys.csv'.length + description.length },
      { kind: 'uploads', bytes: 12_288 },
    ]);
    await redactArtifact(of, id);
    expect(charged()).toEqual([{ kind: 'rows', bytes: 128 + 'keys.csv'.length }]);
  });

  test('leaves bytes that another artifact, a workspace or a report uses, and says so', async () => {
    const of = await team();
    const [one, other] = [await publish(of), await publish(of, text, { name: 'other.csv' })];
    expect(await redactArtifact(of, one.id)).toMatchObject({
      left: [{ what: 'content', detail: expect.stringContaining('another artifact') }],
    });
    expect(isStored(of, one.sha256)).toBe(true);
    const entries = [{ kind: 'file', path: 'k.csv', ...other, id: undefined, executable: false }];
    const snapshot = (await store(of, JSON.stringify({ version: 1, entries }), 'ada')).sha256;
    await of.write((tx) => tx.run(`UPDATE agents SET snapshot = :snapshot WHERE id = 'ada'`, { snapshot }));
    expect(await redactArtifact(of, other.id)).toMatchObject({
      left: [{ what: 'content', detail: expect.stringContaining('workspace') }],
    });
    expect(isStored(of, one.sha256)).toBe(true);
    expect(await flaws(of)).toEqual([]);
    await of.write((tx) => tx.run(`UPDATE agents SET snapshot = NULL`));
    const path = contentOf(of).pathOf(one.sha256);
    const turn = await of.work('ada');
    await of.complete(turn);
    const report = { version: 1, path, agent_id: 'ada', turn_id: turn.turn, created_at_ms: start };
    await of.write((tx) => tx.insert('reports', report));
    expect(await redactArtifact(of, one.id)).toMatchObject({ left: [{ detail: expect.stringContaining('a report') }] });
    await of.write((tx) => tx.run('DELETE FROM reports'));
    expect(await redactArtifact(of, one.id)).toMatchObject({ left: [] });
    expect(isStored(of, one.sha256)).toBe(false);
  });

  test('removes of a directory the files that no other directory has', async () => {
    const of = await team();
    const one = await publishDirectory(of, { 'north.csv': text, 'same.csv': 'a,b\n' });
    await publishDirectory(of, { 'copy.csv': 'a,b\n' });
    await of.mail('ada', { body: `It says: ${text}` });
    expect(await redactArtifact(of, one.id)).toMatchObject({
      left: [{ what: 'content', detail: expect.stringContaining('another artifact') }],
    });
    expect(await filesWith(of, 'szmneedle7f3a')).toEqual([]);
    expect(isStored(of, one.sha256)).toBe(false);
    expect(await flaws(of)).toEqual([]);
  });

  test('leaves nothing to read', async () => {
    const of = await team();
    const { id } = await publish(of);
    await redactArtifact(of, id);
    const artifact = findArtifact(of.store.reader, { name: 'keys.csv' });
    expect(() => requireContent(artifact ?? { name: '', redacted: null })).toThrow(
      `"keys.csv" has no content any more. ${words}`,
    );
  });
});
