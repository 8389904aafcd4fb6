import { describe, expect, test } from '@jest/globals';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { isLoopback, type ListenerNames, sourceCheck } from '@suzumio/runtime/http/request-source';

/** What becomes of a request: `let in`, or the code that it is refused with. */
function outcome(names: ListenerNames, headers: Record<string, string>, method = 'GET'): string {
  try {
    sourceCheck(names)({ method, headers });
    return 'let in';
  } catch (error) {
    return isSuzumioError(error) ? error.code : String(error);
  }
}

const local = { host: '127.0.0.1' };
const everywhere = { host: '0.0.0.0', allowedHosts: ['api', 'Suzumio.example'] };

describe('a request is addressed', () => {
  test.each<[string, ListenerNames, string]>([
    ['to loopback', local, 'localhost:39400'],
    ['to loopback', local, '127.0.0.1'],
    ['to loopback', local, '[::1]:1'],
    ['to loopback', { host: '::1' }, '[::1]:39400'],
    ['to loopback', everywhere, 'LOCALHOST'],
    ['to the name that is listened on', { host: 'box.lan' }, 'box.lan:39400'],
    ['to the address that is listened on', { host: '10.0.0.7' }, '10.0.0.7:39400'],
    ['to a name that is allowed', everywhere, 'api:39400'],
    ['to a name that is allowed', everywhere, 'suzumio.EXAMPLE'],
    // No page can make its name an address.
    ['to an address, where others reach it', everywhere, '172.18.0.4:9464'],
    ['to an address, where others reach it', { host: '::' }, '[fd00::7]:9464'],
  ])('%s', (_what, names, host) => {
    expect(outcome(names, { host })).toBe('let in');
  });

  test.each<[string, ListenerNames, string | undefined]>([
    ['to nobody', local, undefined],
    ['to nobody', local, ''],
    ['to another name', local, 'evil.example'],
    ['to another name', everywhere, 'evil.example'],
    ['to another service', everywhere, 'toolhost'],
    ['to the host of a container', everywhere, 'host.docker.internal:39400'],
    ['to a name that looks like an address', everywhere, '10.0.0.7.nip.io'],
    ['to an address that is not ours', local, '10.0.0.7'],
    ['to an address that means any', local, '0.0.0.0:39400'],
    ['to a name in front of ours', local, 'evil.example@localhost'],
    ['to a path behind ours', everywhere, 'api/evil.example'],
    ['to several', everywhere, 'api, evil.example'],
  ])('elsewhere: %s', (_what, names, host) => {
    expect(outcome(names, host === undefined ? {} : { host })).toBe('foreign-host');
  });
});

describe('a write comes', () => {
  const host = 'suzumio.example';
  test.each([
    ['from a program', {}],
    ['from our own page', { origin: 'http://suzumio.example' }],
    [
      'from our own page, behind what speaks TLS',
      { origin: 'https://suzumio.example', 'sec-fetch-site': 'same-origin' },
    ],
    ['from the address bar', { 'sec-fetch-site': 'none' }],
  ])('%s', (_what, headers) => {
    expect(outcome(everywhere, { host, ...headers }, 'POST')).toBe('let in');
  });

  test.each([
    ['from another page', { origin: 'https://evil.example' }],
    ['from a page without a name', { origin: 'null' }],
    ['from another port', { origin: 'http://suzumio.example:8080' }],
    ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour, as the browser says', { 'sec-fetch-site': 'same-site' }],
  ])('not %s', (_what, headers) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect(outcome(everywhere, { host, ...headers }, method)).toBe('foreign-origin');
    }
    expect(outcome(everywhere, { host, ...headers }, 'GET')).toBe('let in');
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.7', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['', false],
])('%j is this machine alone: %j', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
