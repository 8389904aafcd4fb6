import { describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { requestHash } from '@suzumio/store/journal';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { indexMessages } from '@suzumio/store/mail/index-messages';
import { listInbox } from '@suzumio/store/mail/messages';
import { type NewMessage, postMessage } from '@suzumio/store/mail/post-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { recordModelAnswer } from '@suzumio/store/models/record-model-answer';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { wipe, wipesDue } from '@suzumio/store/redaction/wipe';
import { Sql } from '@suzumio/store/sqlite/sql';
import { once } from '@suzumio/store/sqlite/once';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { readMessageDetail } from '@suzumio/store/turns/receipts';
import { findTurn } from '@suzumio/store/turns/read-turns';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { teamYaml, withModel } from '../../../../test/support/cell.js';
import { refusedAs, start, type Team, teams } from '../team.js';
import { answered, answeredBy, answerOf, ask, call, dirOf, fileOf, filesWith, placeOf } from './support.js';

const team = teams();
const needle = 'szmneedle7f3a "quoted" \\ and\té';
const secret = `The key of the north gauge:\n  ${needle}\nKeep it to yourself.`;
const at = new Date(start).toISOString();
const sentence = `[This message was redacted by ops at ${at}: it held a key]`;

const redactMessage = (of: Team, name: string, asked = { actor: 'ops', because: 'it held a key' }) =>
  redact(placeOf(of), redactableMessage(of.store.reader, name), asked);

describe('redacting a message', () => {
  test('removes its bytes from every file of the project', async () => {
    const of = await team(withModel(teamYaml));
    // ada writes it to all; the question and the call that do so are journaled.
    const ada = await of.work('ada');
    const written = { body: secret };
    await answered(
      of,
      ada,
      '1',
      answerOf([{ id: 'c', name: 'messages_broadcast', arguments: JSON.stringify(written) }]),
    );
    let id = '';
    await of.call(
      ada,
      'ada',
      {
        step: '1.0',
        tool: 'messages.broadcast',
        input: keptInput(written),
        requestHash: requestHash('messages.broadcast', written),
      },
      (tx) => {
        id = broadcast(tx, { sender: 'ada', priority: 'P1', body: secret, turn: ada.turn, actor: 'ada' }).id;
        return { output: `Sent to all as ${id}.`, metadata: { message: id } };
      },
    );
    await of.complete(ada, `I told them:\n> ${secret.replaceAll('\n', '\n> ')}`);
    // ben is told of it, reads it again, repeats it in a question to his model, in mail and in a log, and fails.
    await of.schedule();
    const ben = await of.begin(of.activeTurn('ben') ?? '');
    const quote = `You said:\n> ${secret.replaceAll('\n', '\n> ')}\nWhy?`;
    const calls = [
      { id: 'r', name: 'messages_read', arguments: JSON.stringify({ id }) },
      { id: 'w', name: 'files_write', arguments: JSON.stringify({ path: 'k.txt', content: `${secret}\n` }) },
      { id: 'a', name: 'messages_reply', arguments: JSON.stringify({ message: id, body: quote }) },
    ];
    await answered(of, ben, '1', answerOf(calls, `So ${secret}`));
    const read = { output: secret, metadata: { id, sender: 'ada' } };
    await call(of, ben, 'ben', '1.0', 'messages.read', { id }, read);
    const reply = { message: id, body: quote };
    await of.call(
      ben,
      'ben',
      {
        step: '1.2',
        tool: 'messages.reply',
        input: keptInput(reply),
        requestHash: requestHash('messages.reply', reply),
      },
      (tx) => {
        const posted = replyToMessage(tx, { ...reply, sender: 'ben', priority: 'P1', turn: ben.turn, actor: 'ben' });
        return { output: `Replied as ${posted.id}.`, metadata: { message: posted.id } };
      },
    );
    await writeTurnLog(dirOf(of), { turn_id: ben.turn, number: 1 }, Buffer.from(`before\n${secret}\nafter\n`));
    await writeFile(join(dirOf(of), 'logs', `${ben.turn}.1.log.0a1b2c3d`), secret);
    await of.fail(ben, 'non-zero-exit', `It said ${secret}`);
    const key = { token: 'admin', route: 'POST /', key: 'k', requestHash: 'h' };
    await of.write((tx) => once(tx, key, () => ({ body: secret })));
    await of.write((tx) => {
      const row = {
        agent_id: 'ada',
        through_number: 1,
        text: `They said ${secret}`,
        turn_id: ada.turn,
        step: '0',
        created_at_ms: 1,
      };
      tx.insert('agent_summaries', row);
    });
    expect(await filesWith(of, 'szmneedle7f3a')).toEqual(
      expect.arrayContaining([expect.stringContaining('.log'), 'project.db-wal']),
    );

    const words = () => of.rows(`SELECT rowid FROM message_words WHERE message_words MATCH 'szmneedle7f3a'`);
    const index = () => of.write((tx) => indexMessages(tx, { after: 0, before: 1_000 }, false));
    await index();
    expect(words()).toHaveLength(2);

    expect(await redactMessage(of, id)).toEqual({
      id,
      redacted: { at, by: 'ops', because: 'it held a key' },
      left: [],
    });
    expect(await filesWith(of, 'szmneedle7f3a')).toEqual([]);
    // As an index of words keeps a part of each.
    expect(await filesWith(of, 'eedle7f3a')).toEqual([]);
    await index();
    expect(words()).toEqual([]);
    expect(of.rows(`SELECT rowid FROM message_words WHERE message_words MATCH 'redacted'`)).toHaveLength(2);
    expect(await filesWith(of, 'Keep it to yourself')).toEqual([]);
    expect(contradictionsIn(of.store.reader)).toEqual({});

    expect(readMessageDetail(of.store.reader, id)).toMatchObject({
      sender: 'ada',
      recipient: '@all',
      body: sentence,
      redacted: { at, by: 'ops', because: 'it held a key' },
      receipts: [{ agent: 'ben' }, { agent: 'cat', unread: true }],
    });
    const turn = findTurn(of.store.reader, ben.turn);
    expect(turn?.prompt).toContain(`| ${sentence}\n[end ${id}]`);
    expect(turn?.calls.map(({ tool, input, output }) => [tool, input, output])).toEqual([
      ['messages.read', { id }, sentence],
      ['messages.reply', { message: id, body: 'You said:\n> [redacted]\nWhy?' }, expect.stringContaining('Replied as')],
    ]);
    expect(findTurn(of.store.reader, ada.turn)).toMatchObject({ text: 'I told them:\n> [redacted]' });
    const [event] = of.rows(`SELECT actor, data_json FROM events WHERE type = 'message.redacted'`);
    expect(event).toEqual({
      actor: 'ops',
      data_json: JSON.stringify({ message: id, seq: 2, because: 'it held a key' }),
    });
  });

  test('leaves no beginning of a word in the index of words', async () => {
    const of = await team();
    const words = Array.from({ length: 10_000 }, (_word, n) => `needle${String(n)}`);
    const { id } = await of.mail('ada', { body: words.join(' ') });
    await of.mail('ada', { body: 'Other words.' });
    await of.write((tx) => indexMessages(tx, { after: 0, before: 10 }, false));
    expect((await redactMessage(of, id)).left).toEqual([]);
    expect(await filesWith(of, 'needle')).toEqual([]);
  });

  test('leaves other mail as it is, also where it says the same in few words', async () => {
    const of = await team();
    const [first, other] = [await of.mail('ada', { body: 'ok' }), await of.mail('ada', { body: 'ok' })];
    const begun = await of.work('ada');
    await redactMessage(of, first.id);
    const turn = findTurn(of.store.reader, begun.turn);
    expect(turn?.prompt).toContain(`| ${sentence}\n[end ${first.id}]`);
    expect(turn?.prompt).toContain(`| ok\n[end ${other.id}]`);
    const [{ input }] = of.rows<{ input: string }>('SELECT input_json AS input FROM turns') as [{ input: string }];
    const { mail } = (JSON.parse(input) as { turn: { mail: { body: string }[] } }).turn;
    expect(mail.map(({ body }) => body)).toEqual([sentence, 'ok', 'For ada.']);
    expect(of.rows(`SELECT data_json ->> 'excerpt' AS text FROM events WHERE type = 'message.created'`)).toEqual([
      { text: '[redacted]' },
      { text: 'ok' },
      { text: 'For ada.' },
    ]);
  });

  test('is done once, whoever asks again', async () => {
    const of = await team();
    const { id } = await of.mail('ada', { body: secret });
    const answers = await Promise.all([redactMessage(of, id), redactMessage(of, id)]);
    of.advance(60_000);
    answers.push(await redactMessage(of, '1', { actor: 'other', because: 'again' }));
    expect(answers).toEqual(Array(3).fill({ id, redacted: { at, by: 'ops', because: 'it held a key' }, left: [] }));
    expect(of.events().filter((type) => type === 'message.redacted')).toHaveLength(1);
    expect(() => redactableMessage(of.store.reader, '7')).toThrow(
      expect.objectContaining(refusedAs('message-unknown')),
    );
  });

  test('gives back what its text was charged', async () => {
    const of = await team();
    const charged = () =>
      of.rows<{ bytes: number }>(`SELECT bytes FROM stored_bytes WHERE owner = 'user' AND kind = 'rows'`)[0]?.bytes ??
      0;
    const before = charged();
    const { id } = await of.mail('ada', { body: 'All of it. '.repeat(1_000) });
    expect(charged() - before).toBe(128 + 11_000);
    await redactMessage(of, id);
    expect(charged() - before).toBe(128 + sentence.length);
  });

  test('tells who reads it later that it was redacted', async () => {
    const of = await team();
    const { id } = await of.mail('ada', { body: secret });
    await redactMessage(of, id);
    expect(listInbox(of.store.reader, { limit: 10, undelivered: false }).items).toMatchObject([{ id, body: sentence }]);
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    expect(findTurn(of.store.reader, begun.turn)?.prompt).toContain(`| ${sentence}`);
  });
});

describe('a redaction meets', () => {
  test('a claim that has rendered the message: it renders again', async () => {
    const of = await team();
    const { id } = await of.mail('ada', { body: secret });
    await of.schedule();
    const turn = of.activeTurn('ada') ?? '';
    const prepared = prepareTurn(of.store.reader, of.store.config, turn);
    await redactMessage(of, id);
    expect(await of.claim(turn, { prepared })).toBe('stale');
    await of.begin(turn);
    expect(findTurn(of.store.reader, turn)?.prompt).not.toContain('szmneedle');
  });

  test('a running attempt: it ends, and the next one goes on from the journal without the text', async () => {
    const of = await team(withModel(teamYaml));
    const { id } = await of.mail('ada', { body: secret });
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    const input = { recipient: 'ben', body: `I have ${secret}` };
    await answered(of, begun, '1', answerOf([{ id: 'c', name: 'messages_send', arguments: JSON.stringify(input) }]));
    let sent = 0;
    const send = (tx: Parameters<typeof postMessage>[0], written: Pick<NewMessage, 'body'>) => {
      sent += 1;
      postMessage(tx, { sender: 'ada', recipient: 'ben', priority: 'P1', ...written, turn: begun.turn, actor: 'ada' });
      return { output: 'sent' };
    };
    const tool = 'messages.send';
    await of.call(
      begun,
      'ada',
      { step: '1.0', tool, input: keptInput(input), requestHash: requestHash(tool, input) },
      (tx) => send(tx, input),
    );
    const awaited = await ask(of, begun, '2', 'with all of it');
    await redactMessage(of, id);

    expect(of.turn(begun.turn)).toMatchObject({ status: 'queued', attempt: 1 });
    expect(of.rows("SELECT status, counted, failure_json ->> 'code' AS code FROM turn_attempts")).toEqual([
      { status: 'failed', counted: 0, code: 'input-redacted' },
    ]);
    await expect(of.call(begun, 'ada', { step: '2.0' })).rejects.toMatchObject(refusedAs('token-rejected'));
    // What the dead attempt still hears from its model is paid for, and not kept.
    const late = 'call' in awaited ? awaited.call : '';
    expect(await of.write((tx) => recordModelAnswer(tx, late, answerOf([], secret), answeredBy))).toMatchObject({
      ok: false,
    });
    expect(of.rows(`SELECT calls FROM agent_usage`)).toEqual([{ calls: 2 }]);

    const next = await of.begin(begun.turn);
    expect(next.attempt).toBe(2);
    const first = await ask(of, next, '1', 'without it');
    expect(first).toMatchObject({ state: 'recorded' });
    const redacted = { recipient: 'ben', body: 'I have [redacted]' };
    expect(JSON.stringify(first)).toContain(JSON.stringify(JSON.stringify(redacted)));
    const again = { step: '1.0', tool, input: keptInput(redacted), requestHash: requestHash(tool, redacted) };
    expect(await of.call(next, 'ada', again, (tx) => send(tx, redacted))).toMatchObject({ replayed: true });
    expect(sent).toBe(1);
    expect(await ask(of, next, '2', 'without it, too')).toMatchObject({ state: 'begun' });
    expect(contradictionsIn(of.store.reader)).toEqual({});
  });

  test('an agent that only remembers it: what it asks now is asked anew, and its answers stay', async () => {
    const of = await team(withModel(teamYaml));
    const { id } = await of.mail('ada', { body: secret });
    await of.schedule();
    await of.complete(await of.begin(of.activeTurn('ada') ?? ''));
    const begun = await of.work('ada');
    await answered(of, begun, '1', answerOf([]));
    await redactMessage(of, id);
    const next = await of.begin(begun.turn);
    expect(await ask(of, next, '1', 'with another memory')).toMatchObject({ state: 'recorded' });
  });

  test('a turn that failed: it can be retried', async () => {
    const of = await team(withModel(teamYaml));
    const { id } = await of.mail('ada', { body: secret });
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    await answered(of, begun, '1', answerOf([]));
    await of.fail(begun, 'non-zero-exit');
    await redactMessage(of, id);
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    expect(await ask(of, await of.begin(begun.turn), '1', 'without it')).toMatchObject({ state: 'recorded' });
  });

  test('agents that know nothing of it: they go on', async () => {
    const of = await team();
    const { id } = await of.mail('ada', { body: secret });
    const ben = await of.work('ben');
    await redactMessage(of, id);
    expect(of.turn(ben.turn)).toMatchObject({ status: 'running' });
    await of.complete(ben);
  });

  test('what is written while it searches', async () => {
    const of = await team();
    await of.write((tx) => {
      const mail = { sender: 'user', recipient: 'cat', priority: 'P1' as const, actor: 'test' };
      for (let n = 0; n < 1_200; n += 1) postMessage(tx, { ...mail, body: `Message ${String(n)}.` });
    });
    const { id } = await of.mail('ada', { body: secret });
    const redacting = redactMessage(of, id);
    await of.schedule();
    const begun = await of.begin(of.activeTurn('ada') ?? '');
    const said = { body: `It said: ${secret}`, sender: 'ada', turn: begun.turn, actor: 'ada' };
    await of.call(begun, 'ada', { input: keptInput(said) }, (tx) => {
      postMessage(tx, { ...said, recipient: 'ben', priority: 'P1' });
      return { output: secret };
    });
    await redacting;
    expect(await filesWith(of, 'szmneedle7f3a')).toEqual([]);
  });
});

test('a database that cannot be rewritten is told with the reason', async () => {
  const of = await team();
  const { id } = await of.mail('ada', { body: secret });
  const nowhere = join(dirOf(of), 'nowhere', 'project.db');
  const { left } = await redact({ ...placeOf(of), file: nowhere }, redactableMessage(of.store.reader, id), {
    actor: 'ops',
    because: null,
  });
  expect(left).toEqual([
    {
      what: 'database',
      detail: expect.stringMatching(/: it cannot be rewritten \(.*the directory does not exist\)\./),
    },
  ]);
  expect(wipesDue(of.store.reader)).toBe(1);
});

test('what others still read is wiped later, and what is a copy is told', async () => {
  const of = await team();
  const { id } = await of.mail('ada', { body: secret });
  await writeFile(`${fileOf(of)}.schema-15.bak`, '');
  const reader = Sql.open(fileOf(of), { readonly: true });
  reader.handle.exec('BEGIN');
  reader.get('SELECT count(*) FROM messages');
  const { left } = await redactMessage(of, id);
  expect(left.map(({ what }) => what)).toEqual(['database', 'copies']);
  expect(left[0]?.detail).toMatch(/: others use it\. It is tried again within the hour/);
  expect(wipesDue(of.store.reader)).toBe(1);
  expect(await filesWith(of, 'szmneedle7f3a')).not.toEqual([]);
  reader.close();
  expect((await redactMessage(of, id)).left).toMatchObject([{ what: 'copies' }]);
  expect([wipesDue(of.store.reader), await filesWith(of, 'szmneedle7f3a')]).toEqual([0, []]);
});

test('wipes that overlap leave nothing due, and none of them says so', async () => {
  const of = await team();
  const more = () => of.write((tx) => tx.run('UPDATE projects SET wipes_due = wipes_due + 1'));
  const wiped = () => wipe(of.store, fileOf(of));
  await more();
  const first = wiped();
  await more();
  expect(await Promise.all([first, wiped()])).toEqual([{ outcome: 'done' }, { outcome: 'done' }]);
  expect(wipesDue(of.store.reader)).toBe(0);
});
