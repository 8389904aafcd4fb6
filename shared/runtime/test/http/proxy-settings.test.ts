import { describe, expect, test } from '@jest/globals';
import { keepLoopbackDirect, ProxySettings, shownProxy } from '../../src/http/proxy-settings.js';

const proxyFor = (environment: Record<string, string>, address: string) => {
  const proxy = new ProxySettings(environment).proxyFor(new URL(address));
  return proxy && shownProxy(proxy);
};

describe('the proxy for an address', () => {
  test.each([
    ['none is set', {}, 'https://api.example', undefined],
    ['https has its own', { HTTPS_PROXY: 'http://p:1' }, 'https://api.example', 'p:1 (HTTPS_PROXY)'],
    ['http has another', { HTTPS_PROXY: 'http://p:1' }, 'http://api.example', undefined],
    ['http has its own', { HTTP_PROXY: 'http://p:1' }, 'http://api.example', 'p:1 (HTTP_PROXY)'],
    [
      'lower case counts first',
      { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' },
      'https://a.b',
      'q:2 (https_proxy)',
    ],
    ['an empty one is not set', { HTTPS_PROXY: 'http://p:1', https_proxy: '' }, 'https://a.b', 'p:1 (HTTPS_PROXY)'],
    ['there is one for all', { ALL_PROXY: 'http://p:1' }, 'https://a.b', 'p:1 (ALL_PROXY)'],
    ['its own counts before that', { ALL_PROXY: 'http://p:1', HTTP_PROXY: 'q:2' }, 'http://a.b', 'q:2 (HTTP_PROXY)'],
    ['it has no scheme', { HTTPS_PROXY: 'p:3128' }, 'https://a.b', 'p:3128 (HTTPS_PROXY)'],
    ['it has credentials', { HTTPS_PROXY: 'http://me:pass@p:1' }, 'https://a.b', 'p:1 (HTTPS_PROXY)'],
  ])('where %s', (_, environment, address, proxy) => {
    expect(proxyFor(environment as Record<string, string>, address)).toBe(proxy);
  });

  test.each([
    'http://localhost:1',
    'http://db.localhost',
    'http://127.0.0.1:1',
    'http://127.8.9.1',
    'https://[::1]:1',
    'http://0.0.0.0',
    'http://[::ffff:127.0.0.1]',
    'http://LOCALHOST.',
    'http://2130706433',
    'http://host.docker.internal:11434',
  ])('is none for %s, which is this machine', (address) => {
    expect(proxyFor({ ALL_PROXY: 'http://p:1' }, address)).toBeUndefined();
  });

  test.each([
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['example.com', 'https://badexample.com', false],
    ['.example.com', 'https://api.example.com', true],
    ['*.example.com', 'https://api.EXAMPLE.com.', true],
    ['example.com:8443', 'https://example.com:8443', true],
    ['example.com:8443', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['*', 'https://example.com', true],
    ['a.b, example.com', 'https://example.com', true],
    ['a.b example.com', 'https://example.com', true],
    ['10.0.0.0/8', 'http://10.1.2.3:11434', true],
    ['10.0.0.0/8', 'http://11.1.2.3', false],
    ['10.0.0.0/8', 'http://[::ffff:10.1.2.3]', true],
    ['10.1.2.3', 'http://10.1.2.3', true],
    ['10.0.0.0/33', 'http://10.1.2.3', false],
    ['2.3', 'http://10.1.2.3', false],
    ['fd00::/8', 'http://[fd12::1]', true],
    ['fd12:0:0::1', 'http://[fd12::1]:80', true],
    ['[fd12::1]:8080', 'http://[fd12::1]:8080', true],
    ['[fd12::1]:8080', 'http://[fd12::1]', false],
    ['[fd12::1]', 'http://[fd12::1]', true],
    [',,', 'https://example.com', false],
    ['::::/x', 'https://example.com', false],
  ])('with NO_PROXY=%s: %s is reached directly: %s', (exceptions, address, isDirect) => {
    const found = proxyFor({ ALL_PROXY: 'http://p:1', NO_PROXY: exceptions }, address);
    expect(found).toBe(isDirect ? undefined : 'p:1 (ALL_PROXY)');
  });
});

test('loopback is named in NO_PROXY where there is a proxy, beside what is there', () => {
  const environment: Record<string, string> = { https_proxy: 'http://p:1', NO_PROXY: 'a.b' };
  keepLoopbackDirect(environment);
  expect(environment).toMatchObject({ NO_PROXY: 'a.b,localhost,127.0.0.1,[::1]' });
  const none = {};
  keepLoopbackDirect(none);
  expect(none).toEqual({});
});
