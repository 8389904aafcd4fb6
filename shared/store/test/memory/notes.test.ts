import { describe, expect, test } from '@jest/globals';
import { maxMemoryBytes, maxNoteBytes, maxNotes, noteFields, noteQuery } from '@suzumio/contract/model/note';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { agentOwner, editNoteOfAgent, forgetNoteOfAgent, noteForAgent } from '@suzumio/store/memory/agent-notes';
import { insertNote, listNotes, memoryUse, noteCalled, searchNotes } from '@suzumio/store/memory/notes';
import fc from '../../../../test/support/fast-check.js';
import { anyText } from '../../../../test/support/any-text.js';
import { teamYaml } from '../../../../test/support/cell.js';
import { filesWith, placeOf } from '../redaction/support.js';
import { type Team, teams } from '../team.js';

const team = teams();
const by = { actor: 'ops' };
const note = (of: Team, text: string, tags: string[] = [], agent = 'ada') =>
  of.write((tx) => noteForAgent(tx, agent, { text, tags }, by));
const ownerIn = (of: Team, agent = 'ada') => agentOwner(of.store.reader, agent);
const found = (of: Team, query: string, agent = 'ada', limit = 50) =>
  searchNotes(of.store.reader, ownerIn(of, agent), noteQuery.parse(query), limit).map(({ text }) => text);
const all = (of: Team, agent = 'ada') =>
  listNotes(of.store.reader, ownerIn(of, agent), { limit: 1000 }).items.map(({ text }) => text);

describe('a search', () => {
  test('finds any of the words in texts and tags, the best first, of one agent alone', async () => {
    const of = await team();
    await note(of, 'The north gauge was moved in May.');
    await note(of, 'Give levels in centimetres.', ['style', 'north gauge']);
    await note(of, 'Émile reads the gauge.');
    await note(of, 'North, north, north gauge: ben has it.', [], 'ben');
    expect(found(of, 'where did the north gauge move')[0]).toBe('The north gauge was moved in May.');
    expect(found(of, 'where did the north gauge move')).toHaveLength(3);
    expect(found(of, 'STYLE')).toEqual(['Give levels in centimetres.']);
    expect(found(of, '"gauge north"')).toEqual([]);
    expect(found(of, 'centi*')).toEqual(['Give levels in centimetres.']);
    expect(found(of, 'centi')).toEqual([]);
    expect(found(of, 'emile')).toEqual(['Émile reads the gauge.']);
    expect(found(of, 'gauge', 'ada', 2)).toHaveLength(2);
    expect(found(of, 'gauge', 'ben')).toEqual(['North, north, north gauge: ben has it.']);
  });

  test('finds texts in scripts without spaces between words', async () => {
    const of = await team();
    await note(of, '北の水位計は五月に移された。', ['移動']);
    await note(of, 'The south gauge.');
    expect(found(of, '水位計')).toEqual(['北の水位計は五月に移された。']);
    expect(found(of, '移動 south')).toEqual(['The south gauge.', '北の水位計は五月に移された。']);
  });

  test.each([
    '" OR 1=1 --',
    "'; DROP TABLE notes; --",
    'NEAR(gauge north, 2)',
    'gauge AND NOT',
    'OR',
    'text:gauge',
    '{text tags_json} : gauge',
    '^gauge',
    '-gauge',
    'gauge + north',
    '(gauge',
    'gauge)',
    'gau*ge **',
    '"gauge" * OR *',
    '"a "b" c"',
    'gauge\u0007north',
    '\ud800gauge\udfff',
    'note_words MATCH gauge',
    '𞤀𞤁 gauge',
  ])('takes %j for words', async (query) => {
    const of = await team();
    await note(of, 'The gauge.');
    expect(() => found(of, query)).not.toThrow();
    expect(all(of)).toEqual(['The gauge.']);
  });

  test('takes any text, or says that there are no words in it', async () => {
    const of = await team();
    await note(of, 'The gauge.');
    fc.assert(
      fc.property(anyText(60), (query) => {
        const parsed = noteQuery.safeParse(query);
        if (!parsed.success) return query.includes('\0') || !/[\p{L}\p{N}]/u.test(query);
        searchNotes(of.store.reader, ownerIn(of), parsed.data, 10);
        return true;
      }),
    );
    for (const none of ['', ' ', '"', '***', '…', '\0', 'gauge\0'])
      expect(noteQuery.safeParse(none).success).toBe(false);
  });
});

describe('a note', () => {
  test('has any text but NUL, of so many bytes', () => {
    const { text, tags } = noteFields;
    expect(text.safeParse('é'.repeat(maxNoteBytes / 2)).success).toBe(true);
    expect(text.safeParse('é'.repeat(maxNoteBytes / 2 + 1)).success).toBe(false);
    for (const bad of ['', ' \n', 'a\0b']) expect(text.safeParse(bad).success).toBe(false);
    for (const bad of ['a\nb', 'a]', '', ' a', 'x'.repeat(41), 'a\u202eb'])
      expect(tags.safeParse([bad]).success).toBe(false);
    expect(tags.safeParse(['north gauge', 'v1.2', 'style', '水位']).success).toBe(true);
    expect(tags.safeParse(Array.from({ length: 9 }, (_tag, at) => `t${at}`)).success).toBe(false);
  });

  test('with half a character in it is kept, and found', async () => {
    const of = await team();
    const { id } = await note(of, 'gauge \ud83d north');
    expect(noteCalled(of.store.reader, ownerIn(of), id).text).toBe('gauge \ufffd north');
    expect(found(of, 'north')).toHaveLength(1);
  });

  test('says who wrote it, and who changed it', async () => {
    const of = await team(`${teamYaml}tools: { toolpacks: [memory] }\n`);
    const begun = await of.work('ada');
    let id = '';
    await of.call(begun, 'ada', { step: '1.0', tool: 'memory.note' }, (tx) => {
      const turn = { id: begun.turn, agent_id: 'ada', number: 1 };
      id = noteForAgent(tx, 'ada', { text: 'Levels in feet.', tags: [] }, { turn }).id;
      return { output: id };
    });
    const before = noteCalled(of.store.reader, ownerIn(of), id);
    expect(before).toMatchObject({ author: 'ada', project: 'team', turn: 'ada:1', editedBy: null });
    of.advance(1000);
    const after = await of.write((tx) => editNoteOfAgent(tx, 'ada', id, { text: 'Levels in metres.', actor: 'ops' }));
    expect(after).toEqual({
      ...before,
      text: 'Levels in metres.',
      editedBy: 'ops',
      version: 2,
      editedAt: new Date(of.nowMs).toISOString(),
    });
    expect(found(of, 'feet')).toEqual([]);
    expect(found(of, 'metres')).toHaveLength(1);
    await of.write((tx) => forgetNoteOfAgent(tx, 'ada', id, by));
    expect(found(of, 'metres')).toEqual([]);
    const told = of.rows<{ type: string; actor: string; data: string }>(
      `SELECT type, actor, data_json AS data FROM events WHERE type LIKE 'memory.%'`,
    );
    expect(told.map(({ type, actor }) => `${type} ${actor}`)).toEqual([
      'memory.noted ada',
      'memory.edited ops',
      'memory.forgotten ops',
    ]);
    expect(JSON.stringify(told)).not.toContain('Levels');
  });

  test("is not another agent's", async () => {
    const of = await team();
    const { id } = await note(of, 'Of ada.');
    const unknown = expect.objectContaining({ code: 'note-unknown' });
    await expect(of.write((tx) => editNoteOfAgent(tx, 'ben', id, { text: 'x', actor: 'ops' }))).rejects.toEqual(
      unknown,
    );
    await expect(of.write((tx) => forgetNoteOfAgent(tx, 'ben', id, by))).rejects.toEqual(unknown);
    expect(all(of)).toEqual(['Of ada.']);
  });

  test('loses its copies of what is redacted, and its words', async () => {
    const of = await team();
    const secret = 'The password of the gauge is hunter2needle.';
    const { id } = await of.mail('ada', { body: secret });
    await note(of, `I was told: ${secret} Keep it.`);
    await redact(placeOf(of), redactableMessage(of.store.reader, id), { actor: 'ops', because: null });
    expect(all(of)).toEqual(['I was told: [redacted] Keep it.']);
    expect(found(of, 'hunter2needle')).toEqual([]);
    expect(found(of, 'keep')).toHaveLength(1);
    expect(await filesWith(of, 'hunter2needle')).toEqual([]);
  });
});

describe('a full memory', () => {
  const full = expect.objectContaining({ code: 'memory-full', message: expect.stringContaining('memory.forget') });

  test('of so many notes takes no more until one is forgotten, and loses none', async () => {
    const of = await team();
    await of.write((tx) => {
      for (let at = 0; at < maxNotes; at += 1) {
        insertNote(tx, 'ada', { id: `note_${at}`, text: `Note ${at}.`, tags: [], author: 'ada' }, tx.nowMs);
      }
    });
    await expect(note(of, 'One more.')).rejects.toEqual(full);
    expect(memoryUse(of.store.reader, ownerIn(of)).notes).toBe(maxNotes);
    // To change one takes no room of another.
    await of.write((tx) => editNoteOfAgent(tx, 'ada', 'note_7', { text: 'Changed at length.', actor: 'ops' }));
    await note(of, 'Ben has room.', [], 'ben');
    await of.write((tx) => forgetNoteOfAgent(tx, 'ada', 'note_3', by));
    await note(of, 'One more.');
    expect(found(of, 'more')).toEqual(['One more.']);
  });

  test('of so many bytes neither takes a note nor lets one grow', async () => {
    const of = await team();
    const text = 'x'.repeat(maxNoteBytes);
    const small = await note(of, 'Small.');
    const fits = Math.floor((maxMemoryBytes - 100) / (maxNoteBytes + 2));
    await of.write((tx) => {
      for (let at = 0; at < fits; at += 1) {
        insertNote(tx, 'ada', { id: `note_${at}`, text, tags: [], author: 'ada' }, tx.nowMs);
      }
    });
    await expect(note(of, text)).rejects.toEqual(full);
    await expect(of.write((tx) => editNoteOfAgent(tx, 'ada', small.id, { text, actor: 'ops' }))).rejects.toEqual(full);
    expect(noteCalled(of.store.reader, ownerIn(of), small.id).text).toBe('Small.');
    await of.write((tx) => editNoteOfAgent(tx, 'ada', 'note_1', { text: 'Short.', actor: 'ops' }));
    await note(of, text);
  });
});
