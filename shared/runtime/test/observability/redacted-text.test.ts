import { describe, expect, test } from '@jest/globals';
import { knownSecrets, RedactedText } from '@suzumio/runtime/observability/redacted-text';

const key = 'abcd/secret+key$=123456';
const known = knownSecrets([key, `Bearer ${key}`, 'p@ss word:42', 'short']);
const token = `lease.cell.team.1.turn_${'0'.repeat(26)}.1.${'x'.repeat(43)}`;

function shown(pieces: readonly string[], midway = false): string {
  const text = new RedactedText(known, midway);
  return [...pieces.map((piece) => text.write(piece)), text.end()].join('');
}

const splits = (text: string): string[][] =>
  Array.from({ length: text.length + 1 }, (_none, at) => [text.slice(0, at), text.slice(at)]);

describe('a text in pieces', () => {
  test.each([
    ['a key', `My key is ${key}, or ${key}.`, 'My key is [redacted], or [redacted].'],
    ['a password with a blank', 'It is p@ss word:42!', 'It is [redacted]!'],
    ['a token of an attempt', `TOKEN=${token}\n`, 'TOKEN=[redacted]\n'],
    ['a bearer of something', 'authorization: Bearer abc.def.ghi\nnext', 'authorization: Bearer [redacted]\nnext'],
    ['nothing of the kind', 'A short, plain text: 漢字 and all.\n', 'A short, plain text: 漢字 and all.\n'],
  ])('never shows %s, wherever it is split', (_name, text, expected) => {
    const told = text.includes('TOKEN') ? 'TOKEN=lease.[redacted]\n' : expected;
    for (const pieces of [...splits(text), text.split('')]) {
      const said = shown(pieces);
      expect(said).not.toContain(key);
      expect([expected, told]).toContain(said);
    }
  });

  test('shows what has come but for its last word', () => {
    const text = new RedactedText(known, false);
    expect(text.write('One two thr')).toBe('One two ');
    expect(text.write('ee\n')).toBe('three\n');
  });

  test('that ends within a secret shows none of it', () => {
    expect(shown([`It is ${key.slice(0, 12)}`])).toBe('It is [redacted]');
  });

  test('that was begun before it is read shows nothing of its first word', () => {
    expect(shown([`${key.slice(9)} and more`], true)).toBe(' and more');
  });

  test('does not keep a word without an end', () => {
    const text = new RedactedText(known, false);
    let said = '';
    for (let pieces = 0; pieces < 1_000; pieces += 1) said += text.write('a'.repeat(1_000));
    said += text.write(' b ');
    expect(said).toBe('… b ');
  });
});
