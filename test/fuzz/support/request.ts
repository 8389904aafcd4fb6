import fc from '../../support/fast-check.js';
import { type JsonSchema, type Known, valuesOf } from './json-schema.js';
import { jsonOf, nastyText, nastyValue, spoiled, spoiledBytes } from './nasty.js';

/** A route as its description knows it: enough to make requests to it that are nearly right. */
export interface Route {
  readonly name: string;
  readonly method: string;
  /** With its parameters as `:name`. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, JsonSchema>>;
  readonly query: Readonly<Record<string, JsonSchema>>;
  readonly headers: Readonly<Record<string, JsonSchema>>;
  /** Its JSON body. */
  readonly body?: JsonSchema;
  /** The media type of its body, where that is bytes. */
  readonly bytes?: string;
  /** Whose token opens it, as a placeholder; most of the requests carry it. */
  readonly token?: string;
}

/** A request whose placeholders (`~turn~`) stand for what exists when it is sent. */
export interface RequestCase {
  readonly route: string;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

export type Placeholders = Readonly<Record<string, string>>;

const strangeParts = [
  '..',
  '.',
  '%',
  '%zz',
  '%2f',
  '%2F..%2f',
  '%00',
  '%c0%af',
  '%e2%80',
  ';',
  '*',
  '//',
  '',
  '%0d%0a',
  '#',
];
const strangeMethods = ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'POST', 'GET', 'QUERY', 'get'];
const headerValues: Readonly<Record<string, readonly string[]>> = {
  accept: ['*/*', 'text/event-stream', 'text/html, application/json;q=0', 'x', 'a/b;q=9'.repeat(200)],
  origin: ['null', 'http://evil.example', 'http://127.0.0.1', 'http://', ''],
  'sec-fetch-site': ['cross-site', 'same-origin', 'none', 'CROSS-SITE'],
  host: ['evil.example', '', '127.0.0.1:1:1', '[::1', 'localhost', 'localhost.', '127.0.0.1@evil.example'],
  range: [
    'bytes=0-',
    'bytes=-1',
    'bytes=5-1',
    'bytes=0-0,2-3',
    'bytes=0-,'.repeat(500),
    'BYTES=0-1',
    'bytes=99999999999999999999-',
  ],
  'if-range': ['"x"', 'Wed, 21 Oct 2015 07:28:00 GMT'],
  'if-none-match': ['*', '"x"', 'W/"x"', ','.repeat(5_000)],
  'last-event-id': ['1-1', '0', '-1', '9-999999999999999', '1-1-1', '٣-٣'],
  'idempotency-key': ['k', 'the same', 'x'.repeat(256), ''],
  expect: ['100-continue', '200-ok', ''],
  upgrade: ['websocket', 'h2c'],
  connection: ['close', 'upgrade', 'keep-alive, upgrade'],
  'content-encoding': ['gzip', 'br', 'deflate', 'identity', 'x', 'gzip, gzip'],
  'content-type': [
    'application/json; charset=utf-16',
    'application/json;charset=x',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '',
  ],
  authorization: ['Bearer', 'Bearer x', 'Basic eDp4', `Bearer ${'x'.repeat(5_000)}`, 'bearer  ~admin~', ''],
  cookie: ['a=b'],
  'x-forwarded-for': ['127.0.0.1'],
  'x-http-method-override': ['DELETE'],
};

/** Characters that no server would read as part of a header's value are left to the cases that are bytes. */
const headerText = nastyText.map((text) =>
  Buffer.from(text.replaceAll(/[\p{Cc}\p{Surrogate}]/gu, '').slice(0, 4_000)).toString('latin1'),
);
/** None that is the length of a body which never comes: the server would wait for it, and be right. */
const ownLength = fc.tuple(fc.constant('content-length'), fc.constantFrom('0', '-1', '1.5', '0x10', '1, 2', 'x', ''));
const otherHeader = fc
  .constantFrom(...Object.keys(headerValues))
  .chain((name) => fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...(headerValues[name] ?? [''])), headerText)));
const extraHeader = fc.oneof({ arbitrary: otherHeader, weight: 12 }, ownLength);

/** Requests to some routes: right ones, and ones that are wrong in some places. */
export function requestsTo(
  routes: readonly Route[],
  known: Known,
  named: Readonly<Record<string, JsonSchema>> = {},
): fc.Arbitrary<RequestCase> {
  return fc.oneof(...routes.map((route) => requestTo(route, known, named)));
}

function requestTo(route: Route, known: Known, named: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<RequestCase> {
  const rarely = <Value>(usual: fc.Arbitrary<Value>, strange: fc.Arbitrary<Value>, weight = 8): fc.Arbitrary<Value> =>
    fc.oneof({ arbitrary: usual, weight }, { arbitrary: strange, weight: 1 });
  const valueOf = (name: string, schema: JsonSchema): fc.Arbitrary<string> =>
    (known[name] ?? valuesOf(schema, known, named)).map(asText);

  const parts = Object.fromEntries(
    Object.entries(route.parameters).map(([name, schema]) => [
      name,
      rarely(valueOf(name, schema).map(encoded), fc.oneof(fc.constantFrom(...strangeParts), nastyText.map(encoded))),
    ]),
  );
  const pairs = Object.entries(route.query).map(([name, schema]) =>
    fc
      .record({
        name: rarely(fc.constant(name), fc.constantFrom(`${name}[]`, `${name}[a]`, `${name}.x`)),
        value: rarely(valueOf(name, schema), fc.oneof(nastyText, nastyValue.map(asText)), 3),
        times: rarely(fc.constantFrom(0, 1), fc.constant(2), 6),
      })
      .map((pair) => Array.from({ length: pair.times }, () => `${pair.name}=${encoded(pair.value)}`)),
  );
  const stray = rarely(
    fc.constant<string[]>([]),
    fc.tuple(nastyText, nastyText).map(([name, value]) => [`${encoded(name)}=${encoded(value)}`, '&=&']),
    12,
  );
  const queries = fc.tuple(stray, ...pairs).map((some) => some.flat().join('&'));
  const ownHeaders = fc.tuple(
    ...Object.entries(route.headers).map(([name, schema]) =>
      fc.option(fc.tuple(fc.constant(name.toLowerCase()), rarely(valueOf(name, schema), headerText, 3)), { freq: 2 }),
    ),
  );

  return fc
    .record({
      method: rarely(fc.constant(route.method), fc.constantFrom(...strangeMethods), 30),
      parts: fc.record(parts),
      query: queries,
      token: rarely(
        fc.constant(route.token),
        fc.constantFrom(undefined, '~admin~', '~lease~', '~tool~', '~worker~'),
        20,
      ),
      own: ownHeaders,
      extra: fc
        .array(extraHeader, { maxLength: 3 })
        .chain((some) => rarely(fc.constant<(readonly [string, string])[]>([]), fc.constant(some), 2)),
      body: bodyOf(route, known, named),
    })
    .map(({ method, parts: values, query, token, own, extra, body }) => {
      const path = route.path.replaceAll(/:(\w+)/g, (_whole, name: string) => values[name] ?? '');
      const headers = [
        ['host', 'localhost'],
        ...(token === undefined ? [] : [['authorization', `Bearer ${token}`]]),
        ...(body.type === undefined ? [] : [['content-type', body.type]]),
        ...own.flatMap((one) => (one ? [one] : [])),
      ] as [string, string][];
      // Mostly in place of ours, sometimes twice.
      const replaced = headers.filter(([name]) => !extra.some(([other], index) => other === name && index !== 1));
      return {
        route: route.name,
        method,
        target: query === '' ? path : `${path}?${query}`,
        headers: [...replaced, ...extra],
        body: body.bytes,
      };
    });
}

/** Bytes, each as one character, so that a case can be read. */
function bodyOf(
  route: Route,
  known: Known,
  named: Readonly<Record<string, JsonSchema>>,
): fc.Arbitrary<{ bytes: string; type: string | undefined }> {
  const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
  const junk = fc.record({
    bytes: fc.uint8Array({ maxLength: 200 }).map(latin1),
    type: fc.constantFrom('application/json', undefined, 'application/octet-stream'),
  });
  const nothing = fc.constant({ bytes: '', type: undefined });
  if (route.bytes !== undefined) {
    const type = fc.constant<string | undefined>(route.bytes);
    return fc.oneof(
      { arbitrary: fc.record({ bytes: fc.uint8Array({ maxLength: 300 }).map(latin1), type }), weight: 8 },
      junk,
      nothing,
    );
  }
  if (!route.body) return fc.oneof({ arbitrary: nothing, weight: 12 }, junk);
  const valid = valuesOf(route.body, known, named);
  const json = (bytes: fc.Arbitrary<Buffer>) =>
    fc.record({ bytes: bytes.map(latin1), type: fc.constant('application/json') });
  return fc.oneof(
    { arbitrary: json(valid.map((value) => Buffer.from(jsonOf(value)))), weight: 4 },
    { arbitrary: json(spoiled(valid).map((value) => Buffer.from(jsonOf(value)))), weight: 8 },
    { arbitrary: json(spoiledBytes(valid.map(jsonOf))), weight: 3 },
    junk,
    nothing,
  );
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.map(asText).join(',') : jsonOf(value);
}

/** Percent-encoded, whatever it is; half a surrogate pair becomes what Node makes of it. */
function encoded(text: string): string {
  if (/^«\w+»$/.test(text)) return text;
  return [...Buffer.from(text.slice(0, 6_000))]
    .map((byte) =>
      /[\w.~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`,
    )
    .join('');
}

/** A request as it goes over the wire, each byte a character. */
export function wireOf({ method, target, headers, body }: RequestCase, placeholders: Placeholders): string {
  const fill = (text: string): string =>
    text.replaceAll(/~(\w+)~/g, (whole, name: string) => placeholders[name] ?? whole);
  const content = fill(body);
  // Where a case brings a length of its own, there is no second one, and no body that would be another request.
  const own = headers.some(([name]) => name === 'content-length');
  const needed = !own && (content !== '' || method === 'POST' || method === 'PUT');
  const lines = headers.map(([name, value]) => `${name}: ${fill(value)}`);
  const length = needed ? [`content-length: ${content.length}`] : [];
  return [`${method} ${fill(target)} HTTP/1.1`, ...lines, ...length, '', own ? '' : content].join('\r\n');
}
