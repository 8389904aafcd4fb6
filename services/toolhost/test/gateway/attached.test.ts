import { describe, expect, test } from '@jest/globals';
import { AttachedFields, AttachedSize, type Fields, maxAttachedBytes } from '../../src/gateway/attached.js';

function added(...chunks: Fields[]): Fields | undefined {
  const fields = new AttachedFields(new AttachedSize());
  for (const chunk of chunks) fields.add(chunk);
  return fields.all;
}

const details = (...entries: Fields[]) => ({ reasoning_details: entries });
const thought = (text: string, more: Fields = {}) => details({ type: 'reasoning.text', text, index: 0, ...more });

describe('what comes in chunks', () => {
  test.each<[string, Fields[], Fields]>([
    ['texts are joined', [{ reasoning: 'ha' }, { reasoning: 'ha' }], { reasoning: 'haha' }],
    [
      'a signature that is repeated is one',
      [{ thought_signature: 'a' }, { thought_signature: 'a' }],
      { thought_signature: 'a' },
    ],
    [
      'objects grow',
      [{ extra_content: { google: { thought: true } } }, { extra_content: { google: { thought_signature: 's' } } }],
      { extra_content: { google: { thought: true, thought_signature: 's' } } },
    ],
    [
      'pieces of one index are one entry',
      [thought('ha'), thought('ha', { signature: 's' })],
      thought('haha', { signature: 's' }),
    ],
    ['what is null is said later', [thought('a', { id: null }), thought('b', { id: 'x' })], thought('ab', { id: 'x' })],
    [
      'pieces that each hold all so far are one',
      [thought('I'), thought('I think'), thought('I think of'), thought('I think of it')],
      thought('I think of it'),
    ],
    [
      'entries of another type or id are their own',
      [
        thought('a', { id: 'x' }),
        thought('b', { id: 'y' }),
        details({ type: 'reasoning.encrypted', data: 'c', index: 0 }),
      ],
      details(
        { type: 'reasoning.text', text: 'a', index: 0, id: 'x' },
        { type: 'reasoning.text', text: 'b', index: 0, id: 'y' },
        { type: 'reasoning.encrypted', data: 'c', index: 0 },
      ),
    ],
    [
      'pieces without an index go on until a signature',
      [
        { thinking_blocks: [{ type: 'thinking', thinking: 'a', signature: null }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'b', signature: null }] },
        { thinking_blocks: [{ type: 'thinking', thinking: '', signature: 's' }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'c', signature: 't' }] },
      ],
      {
        thinking_blocks: [
          { type: 'thinking', thinking: 'ab', signature: 's' },
          { type: 'thinking', thinking: 'c', signature: 't' },
        ],
      },
    ],
    [
      'entries of one list are not pieces of each other',
      [
        {
          thinking_blocks: [
            { type: 'thinking', thinking: 'a' },
            { type: 'thinking', thinking: 'b' },
          ],
        },
      ],
      {
        thinking_blocks: [
          { type: 'thinking', thinking: 'a' },
          { type: 'thinking', thinking: 'b' },
        ],
      },
    ],
  ])('%s', (_what, chunks, expected) => {
    expect(added(...chunks)).toEqual(expected);
  });

  test('keeps a name that is none of an ordinary field', () => {
    const sent = JSON.parse('{ "extra_content": { "__proto__": { "polluted": 1 }, "a": 1 } }') as Fields;
    expect(JSON.stringify(added(sent, { extra_content: { b: 2 } }))).toBe(
      '{"extra_content":{"__proto__":{"polluted":1},"a":1,"b":2}}',
    );
    expect(({} as Fields)['polluted']).toBeUndefined();
  });

  test('costs what it brings, however much there is', () => {
    const fields = new AttachedFields(new AttachedSize());
    const begun = performance.now();
    for (let at = 0; at < 50_000; at += 1) {
      fields.add({
        reasoning_content: 'ab',
        reasoning_details: [{ index: at % 1000, text: 'a' }],
        extra_content: { [at % 50]: at },
      });
    }
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  test('is whole again after a message that repeats it', () => {
    const size = new AttachedSize();
    const fields = new AttachedFields(size);
    const long = 'x'.repeat(maxAttachedBytes / 2);
    for (const piece of [long.slice(0, 99), long.slice(99)]) fields.add({ reasoning_content: piece });
    for (let times = 0; times < 9; times += 1) fields.replace({ reasoning_content: long });
    expect(fields.all).toEqual({ reasoning_content: long });
    expect(size.isTooMuch).toBe(false);
  });
});
