import { describe, expect, test } from '@jest/globals';
import { maxAttachments } from '@suzumio/protocol/content';
import { findMessage } from '@suzumio/store/mail/messages';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { refusedAs, type Team, teams } from '../team.js';

const team = teams();

async function published(of: Team, name: string, change: Partial<Parameters<typeof publishArtifact>[1]> = {}) {
  const artifact = { creator: 'user', name, path: 'artifacts/aa/a', sha256: 'a'.repeat(64), sizeBytes: 3, ...change };
  return (await of.write((tx) => publishArtifact(tx, artifact))).id;
}

describe('what a message carries', () => {
  test('is named by id or by name, of which the newest is meant; each artifact is there once, in order', async () => {
    const of = await team();
    const old = await published(of, 'level.md');
    const newer = await published(of, 'level.md', { sizeBytes: 9, directory: { files: 2, contents: [] } });
    const { id } = await of.mail('ada', { attachments: ['level.md', old, newer] });
    const attachments = [
      { id: newer, name: 'level.md', kind: 'directory', files: 2, sizeBytes: 9 },
      { id: old, name: 'level.md', kind: 'file', files: 1, sizeBytes: 3 },
    ];
    expect(findMessage(of.store.reader, id)?.attachments).toEqual(attachments);
    const [event] = of.rows<{ data: string }>('SELECT data_json AS data FROM events ORDER BY seq DESC LIMIT 1');
    expect(JSON.parse(event?.data ?? '')).toMatchObject({ message: id, attachments });
  });

  test('stands in the prompt, and in the runner’s input, as it was then', async () => {
    const of = await team();
    const level = await published(of, 'level.md');
    await of.mail('ada', { attachments: [level] });
    await of.mail('ada', { body: 'Nothing attached.' });
    await of.schedule();
    const turn = of.activeTurn('ada') ?? '';
    await of.begin(turn);
    expect(of.turn(turn)?.prompt).toContain(`| For ada.\n[attached ${level}, 3 bytes: level.md]\n[end msg_`);
    const [row] = of.rows<{ input: string }>('SELECT input_json AS input FROM turns');
    const { mail } = (JSON.parse(row?.input ?? '') as { turn: { mail: { attachments?: unknown }[] } }).turn;
    expect(mail.map(({ attachments }) => attachments)).toEqual([
      [{ id: level, name: 'level.md', kind: 'file', files: 1, sizeBytes: 3 }],
      undefined,
    ]);
  });

  test('that is not published is refused by its name, and nothing is sent', async () => {
    const of = await team();
    const level = await published(of, 'level.md');
    const sent = of.mail('ada', { attachments: [level, 'levle.md'] });
    await expect(sent).rejects.toMatchObject({ ...refusedAs('attachment-unknown'), status: 422 });
    await expect(sent).rejects.toThrow('"levle.md"');
    expect(of.rows('SELECT id FROM messages')).toEqual([]);
    expect(of.unread('ada')).toBe(0);
  });

  test('is bounded', async () => {
    const of = await team();
    const names = Array.from({ length: maxAttachments + 1 }, () => 'x');
    await expect(of.mail('ada', { attachments: names })).rejects.toMatchObject(refusedAs('invalid-request'));
  });
});
