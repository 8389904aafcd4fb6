import { describe, expect, test } from '@jest/globals';
import { noteQuery } from '@suzumio/contract/model/note';
import { renderNote } from '@suzumio/core/prompt/notes';
import { requestHash } from '@suzumio/store/journal';
import { agentOwner, editNoteOfAgent, forgetNoteOfAgent, noteForAgent } from '@suzumio/store/memory/agent-notes';
import { listNotes, noteCalled, searchNotes } from '@suzumio/store/memory/notes';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { postMessage } from '@suzumio/store/mail/post-message';
import { noteRecord } from '@suzumio/store/redaction/note-record';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableNote } from '@suzumio/store/redaction/redact-note';
import { once } from '@suzumio/store/sqlite/once';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { findTurn } from '@suzumio/store/turns/read-turns';
import { turnRow } from '@suzumio/store/rows';
import { teamYaml, withModel } from '../../../../test/support/cell.js';
import { type Begun, refusedAs, start, type Team, teams } from '../team.js';
import { answered, answerOf, ask, call, filesWith, placeOf } from './support.js';

const team = teams();
const withMemory = withModel(`${teamYaml}tools: { toolpacks: [memory] }\n`).replace(
  'tools: ["*"]',
  'tools: ["*", "memory.*"]',
);
const needle = 'szmneedle7f3a "quoted" \\ and\té';
const secret = `The key of the north gauge:\n  ${needle}\nKeep it to yourself.`;
const at = new Date(start).toISOString();
const sentence = `[This note was redacted by ops at ${at}: it held a key]`;

async function redactNote(of: Team, id: string, { agent = 'ada', actor = 'ops' } = {}) {
  const { reader } = of.store;
  const record = await noteRecord(reader, id);
  const owner = { ...agentOwner(reader, agent), kind: 'agent' as const };
  const subject = redactableNote({ id, owner, versions: record.versions }, record);
  return redact(placeOf(of), subject, { actor, because: 'it held a key' });
}

const told = (text: string) => `I keep in mind:\n> ${text.replaceAll('\n', '\n> ')}`;

/** A call of `memory.note`, as a model asks for it, with others that follow. */
async function note(of: Team, begun: Begun, input: { text: string; tags: string[] }): Promise<string> {
  const asked = { id: 'c', name: 'memory_note', arguments: JSON.stringify(input) };
  const others = ['l', 'm'].map((other) => ({ id: other, name: 'memory_list', arguments: '{}' }));
  const sent = { recipient: 'ben', body: told(input.text) };
  const send = { id: 's', name: 'messages_send', arguments: JSON.stringify(sent) };
  await answered(of, begun, '1', answerOf([asked, ...others, send]));
  let id = '';
  const made = { step: '1.0', tool: 'memory.note', input: keptInput(input) };
  await of.call(begun, 'ada', { ...made, requestHash: requestHash(made.tool, input) }, (tx) => {
    id = noteForAgent(tx, 'ada', input, { turn: turnRow(tx, begun.turn) }).id;
    return { output: `Noted as ${id}.`, metadata: { note: id, scope: 'agent' } };
  });
  return id;
}

/** A call of `memory.list`, which shows a note. */
function show(of: Team, begun: Begun, id: string, step: string) {
  const shown = noteCalled(of.store.reader, agentOwner(of.store.reader, 'ada'), id);
  const answer = { output: renderNote(shown, 'agent'), metadata: { notes: [{ ...shown, scope: 'agent' }] } };
  return call(of, begun, 'ada', step, 'memory.list', {}, answer);
}

const all = (of: Team) =>
  listNotes(of.store.reader, agentOwner(of.store.reader, 'ada'), { limit: 100 }).items.map(({ text }) => text);
const versions = async (of: Team, id: string) =>
  (await noteRecord(of.store.reader, id)).versions.map(({ text }) => text);

describe('redacting a note', () => {
  test.each(['there', 'edited', 'forgotten'] as const)(
    'that is %s removes its bytes from every file of the project',
    async (state) => {
      const of = await team(withMemory);
      const ada = await of.work('ada');
      const id = await note(of, ada, { text: secret, tags: ['szmtag', 'gauges'] });
      await show(of, ada, id, '1.1');
      const sent = { recipient: 'ben', body: told(secret) };
      const made = { step: '1.3', tool: 'messages.send', input: keptInput(sent) };
      await of.call(ada, 'ada', { ...made, requestHash: requestHash(made.tool, sent) }, (tx) => {
        postMessage(tx, { ...sent, sender: 'ada', priority: 'P1', turn: ada.turn, actor: 'ada' });
        return { output: 'Sent.' };
      });
      await of.complete(ada, `I noted ${secret}`);
      await of.schedule();
      const ben = await of.begin(of.activeTurn('ben') ?? '');
      await of.fail(ben, 'non-zero-exit', `It said ${secret}`);
      if (state === 'edited') {
        const key = { token: 'ann', route: 'POST /', key: 'k', requestHash: 'h' };
        const change = { text: `Not any more szmneedle8: ${needle}`, actor: 'ann' };
        await of.write((tx) => once(tx, key, () => ({ note: { ...editNoteOfAgent(tx, 'ada', id, change) } })));
        await of.write((tx) => editNoteOfAgent(tx, 'ada', id, { text: 'Moved szmneedle9.', tags: [], actor: 'ann' }));
      }
      if (state === 'forgotten') await of.write((tx) => forgetNoteOfAgent(tx, 'ada', id, { actor: 'ann' }));
      await of.write((tx) => noteForAgent(tx, 'ada', { text: 'Another szmother.', tags: [] }, { actor: 'ann' }));
      expect(await filesWith(of, 'szmneedle7f3a')).not.toEqual([]);
      expect((await versions(of, id)).toSorted()).toEqual(
        state === 'edited'
          ? ['Moved szmneedle9.', expect.stringContaining('Not any more szmneedle8'), secret]
          : [secret],
      );

      expect(await redactNote(of, id)).toEqual({
        id,
        redacted: { at, by: 'ops', because: 'it held a key' },
        left: [],
      });
      for (const gone of ['szmneedle', 'zmneedle', 'szmtag', 'Keep it to yourself']) {
        expect(await filesWith(of, gone)).toEqual([]);
      }
      expect(contradictionsIn(of.store.reader)).toEqual({});
      expect(all(of)).toEqual(['Another szmother.']);
      const found = searchNotes(
        of.store.reader,
        agentOwner(of.store.reader, 'ada'),
        noteQuery.parse('szmneedle7f3a szmother gauges'),
        10,
      );
      expect(found.map(({ text }) => text)).toEqual(['Another szmother.']);
      expect(
        findTurn(of.store.reader, ada.turn)?.calls.map(({ tool, input, output }) => [tool, input, output]),
      ).toEqual(
        expect.arrayContaining([
          ['memory.note', { text: '[redacted]', tags: [] }, `Noted as ${id}.`],
          [
            'memory.list',
            {},
            expect.stringMatching(new RegExp(`^\\[${id}, yours, by ada:1 in team, [^,]*\\]\n.*\n\\[end ${id}\\]$`)),
          ],
        ]),
      );
      expect(findTurn(of.store.reader, ada.turn)?.text).toBe('I noted [redacted]');
      expect(of.rows(`SELECT actor, agent_id, data_json FROM events WHERE type = 'memory.redacted'`)).toEqual([
        { actor: 'ops', agent_id: 'ada', data_json: JSON.stringify({ note: id, because: 'it held a key' }) },
      ]);
    },
  );

  test('leaves other notes as they are, also where they say the same in few words', async () => {
    const of = await team(withMemory);
    const ada = await of.work('ada');
    const other = await of.write((tx) => noteForAgent(tx, 'ada', { text: 'ok', tags: ['a'] }, { actor: 'ann' }));
    const id = await note(of, ada, { text: 'ok', tags: ['b'] });
    for (const [step, one] of [
      ['1.1', other.id],
      ['1.2', id],
    ] as const) {
      await show(of, ada, one, step);
    }
    await redactNote(of, id);
    const [, first, second] = findTurn(of.store.reader, ada.turn)?.calls ?? [];
    expect(first?.output).toMatch(/, tags: a\]\n\| ok\n/);
    expect(second?.output).toContain(`\n| ${sentence}\n`);
    expect(second?.output).not.toContain('tags');
    expect(all(of)).toEqual(['ok']);
    // What the model said beside is its own.
    const [step] = of.rows<{ json: string }>(`SELECT result_json AS json FROM turn_steps WHERE key = '1'`);
    expect(JSON.parse(step?.json ?? '')).toMatchObject({
      answer: {
        text: '',
        toolCalls: [
          { arguments: '{"text":"[redacted]","tags":[]}' },
          {},
          {},
          { arguments: JSON.stringify({ recipient: 'ben', body: told('ok') }) },
        ],
      },
    });
  });

  test('finds a text that was too long for the record of its call', async () => {
    const of = await team(withMemory);
    const ada = await of.work('ada');
    const text = `szmneedle${'"\n'.repeat(4_000)}szmend`;
    const id = await note(of, ada, { text, tags: [] });
    await of.write((tx) => forgetNoteOfAgent(tx, 'ada', id, { actor: 'ann' }));
    expect(await versions(of, id)).toContain(text);
    await redactNote(of, id);
    expect([await filesWith(of, 'szmneedle'), await filesWith(of, 'szmend')]).toEqual([[], []]);
  });

  test('has a running attempt begin anew, and what it noted is noted once', async () => {
    const of = await team(withMemory);
    const ada = await of.work('ada');
    const id = await note(of, ada, { text: secret, tags: [] });
    await redactNote(of, id);
    expect(of.turn(ada.turn)).toMatchObject({ status: 'queued' });
    const next = await of.begin(ada.turn);
    expect(await ask(of, next, '1', 'without it')).toMatchObject({ state: 'recorded' });
    const input = { text: '[redacted]', tags: [] };
    const again = { step: '1.0', tool: 'memory.note', input: keptInput(input), requestHash: 'any' };
    const refuse = () => {
      throw new Error('it is noted again');
    };
    expect(await of.call(next, 'ada', again, refuse)).toMatchObject({ replayed: true });
    expect(all(of)).toEqual([]);
  });

  test('is on the record once, and removes what came after the first', async () => {
    const of = await team(withMemory);
    const ada = await of.work('ada');
    const id = await note(of, ada, { text: secret, tags: [] });
    const shown = noteCalled(of.store.reader, agentOwner(of.store.reader, 'ada'), id);
    const answers = await Promise.all([redactNote(of, id), redactNote(of, id)]);
    // A call that had read it before, and is recorded now.
    const next = await of.begin(ada.turn);
    await answered(of, next, '2', answerOf([{ id: 'l', name: 'memory_list', arguments: '{}' }]));
    const late = { output: renderNote(shown, 'agent'), metadata: { notes: [{ ...shown, scope: 'agent' }] } };
    await call(of, next, 'ada', '2.0', 'memory.list', {}, late);
    expect(await filesWith(of, 'szmneedle')).not.toEqual([]);
    of.advance(60_000);
    answers.push(await redactNote(of, id, { actor: 'other' }));
    expect(answers).toEqual(Array(3).fill({ id, redacted: { at, by: 'ops', because: 'it held a key' }, left: [] }));
    expect(of.events().filter((type) => type === 'memory.redacted')).toHaveLength(1);
    expect(await filesWith(of, 'szmneedle')).toEqual([]);
    expect(await versions(of, id)).toEqual([]);
  });

  test.each(['note_1', '', '%', 'note_%', 'szmneedle7f3a'])('that is not there is refused: %j', async (id) => {
    const of = await team();
    await of.write((tx) => noteForAgent(tx, 'ada', { text: secret, tags: [] }, { actor: 'ann' }));
    await expect(redactNote(of, id)).rejects.toMatchObject(refusedAs('note-unknown'));
    expect(all(of)).toEqual([secret]);
  });

  test('of another agent is refused', async () => {
    const of = await team();
    const { id } = await of.write((tx) => noteForAgent(tx, 'ada', { text: secret, tags: [] }, { actor: 'ann' }));
    await expect(redactNote(of, id, { agent: 'ben' })).rejects.toMatchObject(refusedAs('note-unknown'));
    expect(all(of)).toEqual([secret]);
  });
});
