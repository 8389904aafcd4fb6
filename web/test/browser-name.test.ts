import { expect, test } from '@jest/globals';
import { browserName } from '../src/pages/people/browser-name.js';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0', 'Firefox 144 on Linux'],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
    'Edge 141 on Windows',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
    'Safari 18 on macOS',
  ],
  [
    'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
    'Chrome 141 on Android',
  ],
  ['curl/8.14.1', 'curl/8.14.1'],
  ['', 'A browser without a name'],
  ['x'.repeat(200), `${'x'.repeat(40)}…`],
])('%s is short', (agent, short) => {
  expect(browserName(agent)).toBe(short);
});
