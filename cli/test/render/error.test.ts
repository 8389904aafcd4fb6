import { expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { renderError } from '@suzumio/cli/render/render-error';
import { createSession } from '@suzumio/cli/session';
import { silentContext } from '../support/program.js';

test.each([
  ['nobody answers here', undefined, {}, 'suzumio --root /data serve'],
  ['a server here lacks something', undefined, { answeredBy: 'http://localhost' }, 'suzumio --root /data doctor'],
  ['nobody answers there', 'http://far', {}, 'see that the address is right and a server runs there'],
  [
    'a server there lacks something',
    'http://far',
    { answeredBy: 'http://far' },
    'suzumio --root /data --url http://far doctor',
  ],
])('where %s, what to do next is about that', (_name, url, details, next) => {
  const session = createSession(silentContext, { root: '/data', ...(url === undefined ? {} : { url }) });
  const error = new SuzumioError('server-unreachable', 'The queue cannot be reached now.', details);
  expect(renderError(error, session)).toEqual(['The queue cannot be reached now.', `next: ${next}`]);
});
