import fc from '../../support/fast-check.js';

/** Things that stand in HTTP where they should not. */
const pieces = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\r\n\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Content-Length: -1\r\n',
  'Content-Length: 1, 2\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding : chunked\r\n',
  '\r\nffffffffffffffff\r\n',
  '0\r\n\r\n',
  '-5\r\nhello\r\n',
  '5;ext="\r\n',
  'Host: evil.example\r\n',
  ' folded: header\r\n',
  'Expect: 100-continue\r\n',
  'Upgrade: h2c\r\nConnection: upgrade\r\n',
  'HTTP/1.0',
  'HTTP/9.9',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'CONNECT 127.0.0.1:22 HTTP/1.1\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00',
  `x: ${'y'.repeat(20_000)}\r\n`,
  'x:y\r\n'.repeat(2_500),
] as const;

const junk = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const edit = fc.record({
  at: fc.nat(2_000),
  take: fc.oneof(fc.constant(0), fc.nat(30)),
  put: fc.oneof(fc.constantFrom(...pieces), junk),
});

/**
 * What is sent on one connection: requests in a row, changed somewhere, cut somewhere, in pieces. Each byte is a
 * character, so that a case can be read.
 */
export function spoiledWire(requests: fc.Arbitrary<string>): fc.Arbitrary<string[]> {
  return fc
    .record({
      requests: fc.array(requests, { minLength: 1, maxLength: 3 }),
      edits: fc.array(edit, { maxLength: 3 }),
      cut: fc.option(fc.nat(2_000), { freq: 3 }),
      split: fc.nat(2_000),
    })
    .map(({ requests: some, edits, cut, split }) => {
      const whole = edits.reduce((text, { at, take, put }) => {
        const start = at % (text.length + 1);
        return text.slice(0, start) + put + text.slice(start + take);
      }, some.join(''));
      const sent = cut === null ? whole : whole.slice(0, cut % (whole.length + 1));
      const middle = split % (sent.length + 1);
      return [sent.slice(0, middle), sent.slice(middle)];
    });
}
