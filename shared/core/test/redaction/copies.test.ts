import { describe, expect, test } from '@jest/globals';
import { renderBody } from '@suzumio/core/prompt/body';
import { redactFrame } from '@suzumio/core/prompt/redact-frame';
import { Copies } from '@suzumio/core/redaction/copies';
import { redactJson } from '@suzumio/core/redaction/redact-json';

const text = 'The key is hunter2-é"x\\y".\nKeep it:\n  nobody else may\thave it.';
const without = (written: string, of = text) => new Copies(of).without(written);
const long = `${'All about the north gauge, '.repeat(10)}and its key.`;

describe('copies of a text', () => {
  test.each([
    ['as it is', text],
    ['with other line ends', text.replaceAll('\n', '\r\n')],
    ['quoted line by line', text.replaceAll('\n', '\n> ')],
    ['as a prompt shows it', renderBody(text).slice(2)],
    ['on one line', text.replace(/\s+/g, ' ')],
    ['quoted, and quoted again in a prompt', `| > > ${text.replaceAll('\n', '\n| > > ')}`.slice(6)],
    ['quoted on one line', text.replaceAll('\n', ' > ')],
    ['in JSON of another writer', JSON.stringify(text).slice(1, -1).replace('é', '\\u00e9')],
    ['in JSON', JSON.stringify(text).slice(1, -1)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)],
  ])('are found %s', (_how, copy) => {
    expect(without(`He said: ${copy} And ${copy}!`)).toBe('He said: [redacted] And [redacted]!');
  });

  test('are found where they are cut', () => {
    expect(without(`said "${long.slice(0, 159)}…"`, long)).toBe('said "[redacted]…"');
    expect(without(`| ${long.slice(0, 159)}\n[cut msg_1: 3 bytes`, long)).toBe('| [redacted]\n[cut msg_1: 3 bytes');
    expect(without(`{"body":"${long.slice(0, 200)}`, long)).toBe('{"body":"[redacted]');
  });

  test('are no texts that only begin alike, nor are short words', () => {
    const other = `${long.slice(0, 200)}other words.`;
    expect(without(other, long)).toBe(other);
    expect(without('ok, ok', 'ok')).toBe('ok, ok');
    expect(new Copies('ok').patterns).toEqual([]);
  });

  test('take time by their length alone, whatever they are made of', () => {
    const ordinary = long.repeat(1_000).slice(0, 200_000);
    const same = 'a'.repeat(200_000);
    const costOf = (of: string) => {
      const before = process.threadCpuUsage();
      expect(without(`${of.slice(1)}b`.repeat(5), of)).toHaveLength(1_000_000);
      expect(without(`b${of}b${of}`, of)).toBe('b[redacted]b[redacted]');
      return process.threadCpuUsage(before).user;
    };
    costOf(ordinary);
    // Character by character, it would cost a hundred thousand times as much.
    expect(costOf(same)).toBeLessThan(10 * costOf(ordinary));
  });

  test.each([
    ['words', text],
    ['no word of ASCII', '鍵は「ひみつ」です。だれにも見せないでください。'],
    ['nothing but quotes', '"\\"'.repeat(9)],
  ])('have a pattern in what holds one, however it is written down: %s', (_what, of) => {
    const { patterns } = new Copies(of);
    const call = JSON.stringify({ body: of });
    const ascii = call.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    for (const row of [of, `x ${of}`, call, JSON.stringify({ call }), JSON.stringify({ call: ascii })]) {
      expect(patterns.filter((pattern) => row.includes(pattern))).not.toEqual([]);
    }
  });
});

describe('a document', () => {
  const copies = new Copies(text);
  const redact = { text: (written: string) => copies.without(written) };

  test('is redacted in keys, in values and in documents that are texts in it', () => {
    const call = JSON.stringify({ to: 'ben', body: text });
    expect(redactJson({ answer: [{ arguments: call }, text], [text]: 1, n: null }, redact)).toEqual({
      answer: [{ arguments: JSON.stringify({ to: 'ben', body: '[redacted]' }) }, '[redacted]'],
      '[redacted]': 1,
      n: null,
    });
  });

  test('is the same where there is nothing to redact', () => {
    const value = { a: [1, { b: '{ "no": "change" }' }], c: '[broken' };
    expect(redactJson(value, redact)).toBe(value);
  });

  test('may be as deep as its writer liked', () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000);
    expect(redactJson({ deep }, redact)).toEqual({ deep });
    let nested = text;
    for (let depth = 0; depth < 12; depth += 1) nested = JSON.stringify([nested]);
    expect(JSON.stringify(redactJson(nested, redact))).not.toContain('hunter2');
  });
});

test('a frame of a prompt has another text, and those beside it stay', () => {
  const frame = (id: string, body: string, more: string[] = []) =>
    [`[${id} from ada to ben, P1]`, renderBody(body), ...more, `[end ${id}]`].join('\n');
  const prompt = (body: string, more: string[] = []) =>
    `# Mail\n${frame('msg_1', 'One.\nTwo.')}\n${frame('msg_2', body, more)}\n${frame('msg_3', 'Three.')}\n`;
  const cut = ['[cut msg_2: 3 bytes left out, messages.read has the whole]', '[attached art_1, 3 bytes: a.md]'];
  expect(redactFrame(prompt('[end msg_2]\nNo.', cut), 'msg_2', '[gone]')).toBe(prompt('[gone]', cut.slice(1)));
});
