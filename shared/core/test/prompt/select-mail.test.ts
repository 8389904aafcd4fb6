import { describe, expect, test } from '@jest/globals';
import { type SelectedMail, selectMail, type UnreadMessage } from '@suzumio/core/prompt/select-mail';
import { renderedBodyBytes } from '@suzumio/core/prompt/body';
import { priority } from '@suzumio/protocol/ids';
import fc, { caseCount } from '../../../../test/support/fast-check.js';
import { hostileText } from './hostile-text.js';

const roomy = { maxMessages: 20, maxBytes: 64 * 1024 };

function message(seq: number, over: Partial<UnreadMessage> = {}): UnreadMessage {
  const id = `msg_${String(seq)}`;
  return {
    id,
    seq,
    priority: 'P1',
    sender: 'editor',
    recipient: 'reporter-1',
    kind: 'direct',
    threadId: id,
    body: `body ${String(seq)}`,
    createdAtMs: seq,
    attachments: [],
    ...over,
  };
}

const seqs = (mail: readonly { seq: number }[]) => mail.map(({ seq }) => seq);
const totalBytes = (mail: readonly SelectedMail[]) => mail.reduce((sum, { body }) => sum + renderedBodyBytes(body), 0);

describe('selectMail', () => {
  test('by priority, then in the order of arrival', () => {
    const unread = [message(4), message(2, { priority: 'P3' }), message(5, { priority: 'P0' }), message(1), message(3)];
    expect(seqs(selectMail(unread, roomy))).toEqual([5, 1, 3, 4, 2]);
    expect(seqs(unread)).toEqual([4, 2, 5, 1, 3]);
  });

  test('nothing from nothing', () => {
    expect(selectMail([], roomy)).toEqual([]);
  });

  test('at most maxMessages', () => {
    const unread = Array.from({ length: 30 }, (_, index) => message(index));
    expect(selectMail(unread, roomy)).toHaveLength(20);
    expect(selectMail(unread, { ...roomy, maxMessages: 1 })).toHaveLength(1);
  });

  test('what does not fit waits, and nothing overtakes it', () => {
    const unread = [message(1), message(2, { body: 'x'.repeat(70_000) }), message(3)];
    expect(seqs(selectMail(unread, roomy))).toEqual([1]);
  });

  test('a message that is too long by itself is cut between two characters', () => {
    const body = `${'x'.repeat(10)}😀😀`;
    // The prefix and the line feed take three bytes, each face four.
    const cutAt = (maxBytes: number) => selectMail([message(1, { body })], { maxMessages: 20, maxBytes })[0];
    expect(cutAt(21)).toMatchObject({ body, cut: false, leftOutBytes: 0 });
    expect(cutAt(20)).toMatchObject({ body: `${'x'.repeat(10)}😀`, cut: true, leftOutBytes: 4 });
    expect(cutAt(17)).toMatchObject({ body: `${'x'.repeat(10)}😀`, cut: true, leftOutBytes: 4 });
    expect(cutAt(16)).toMatchObject({ body: 'x'.repeat(10), cut: true, leftOutBytes: 8 });
    expect(cutAt(1)).toMatchObject({ body: '', cut: true, leftOutBytes: 18 });
  });

  test('what a message carries counts like its body', () => {
    const attachments = [{ id: 'art_1', name: 'n'.repeat(60), kind: 'file' as const, files: 1, sizeBytes: 5 }];
    const lineBytes = Buffer.byteLength(`[attached art_1, 5 bytes: ${'n'.repeat(60)}]`) + 1;
    const carrying = message(2, { body: 'x', attachments });
    const bodies = renderedBodyBytes('body 1') + renderedBodyBytes('x');
    const take = (maxBytes: number) => seqs(selectMail([message(1), carrying], { maxMessages: 20, maxBytes }));
    expect(take(bodies + lineBytes)).toEqual([1, 2]);
    expect(take(bodies + lineBytes - 1)).toEqual([1]);
    const long = message(3, { body: 'x'.repeat(100), attachments });
    const [cut] = selectMail([long], { maxMessages: 20, maxBytes: lineBytes + renderedBodyBytes('xx') });
    expect(cut).toMatchObject({ body: 'xx', attachments });
  });

  test('the bytes are those in the prompt: line breaks and shown control characters are longer there', () => {
    const mail = selectMail([message(1, { body: '\n'.repeat(100) })], { maxMessages: 20, maxBytes: 30 });
    expect(mail[0]).toMatchObject({ body: '\n'.repeat(9), leftOutBytes: 91 });
    const windows = selectMail([message(1, { body: '\r\n'.repeat(100) })], { maxMessages: 20, maxBytes: 30 });
    expect(windows[0]).toMatchObject({ body: '\r\n'.repeat(9), leftOutBytes: 182 });
    expect(
      selectMail([message(1, { body: '\0'.repeat(100) })], { maxMessages: 20, maxBytes: 30 })[0]?.body,
    ).toHaveLength(5);
  });
});

describe('for any mail and any bounds', () => {
  const body = fc.oneof(
    hostileText,
    fc.nat({ max: 300 }).map((length) => 'é'.repeat(length)),
  );
  const unread = fc
    .array(fc.record({ priority: fc.constantFrom(...priority.options), body }), { maxLength: 12 })
    .chain((parts) =>
      fc.shuffledSubarray(
        parts.map((part, seq) => message(seq, part)),
        { minLength: parts.length },
      ),
    );
  const limits = fc.record({
    maxMessages: fc.integer({ min: 1, max: 12 }),
    maxBytes: fc.integer({ min: 1, max: 900 }),
  });

  const holds = (
    check: (given: UnreadMessage[], taken: SelectedMail[], bounds: { maxMessages: number; maxBytes: number }) => void,
  ) =>
    fc.assert(
      fc.property(unread, limits, (given, bounds) => check(given, selectMail(given, bounds), bounds)),
      { numRuns: caseCount(400) },
    );

  test('what is taken is the beginning of the queue, at least one, at most maxMessages', () => {
    holds((given, taken, { maxMessages }) => {
      const queue = priority.options.flatMap((level) =>
        given.filter((one) => one.priority === level).sort((a, b) => a.seq - b.seq),
      );
      expect(seqs(taken)).toEqual(seqs(queue).slice(0, taken.length));
      expect(taken.length).toBeGreaterThanOrEqual(Math.min(1, given.length));
      expect(taken.length).toBeLessThanOrEqual(maxMessages);
    });
  });

  test('the bound on bytes holds, and one message more would break a bound', () => {
    holds((given, taken, { maxMessages, maxBytes }) => {
      // An empty line is the least there is.
      expect(totalBytes(taken)).toBeLessThanOrEqual(Math.max(maxBytes, renderedBodyBytes('')));
      if (taken.length === given.length || taken.length === maxMessages) return;
      const next = selectMail(given, { maxMessages: 12, maxBytes: Number.MAX_SAFE_INTEGER })[taken.length];
      expect(totalBytes(taken) + renderedBodyBytes(next?.body ?? '')).toBeGreaterThan(maxBytes);
    });
  });

  test('nothing is lost: a message is whole, or the first one and cut as late as the bound allows', () => {
    holds((given, taken, { maxBytes }) => {
      taken.forEach((mail, index) => {
        const whole = given.find(({ id }) => id === mail.id);
        const { cut, leftOutBytes, ...rest } = mail;
        if (!cut) {
          expect(rest).toEqual(whole);
          expect(leftOutBytes).toBe(0);
          return;
        }
        expect(index).toBe(0);
        const original = whole?.body ?? '';
        const left = original.slice(mail.body.length);
        expect(original.startsWith(mail.body)).toBe(true);
        expect(leftOutBytes).toBe(Buffer.byteLength(left));
        const [next = ''] = /^(?:\r\n|.)/su.exec(left) ?? [];
        expect(renderedBodyBytes(mail.body + next)).toBeGreaterThan(maxBytes);
      });
    });
  });
});
