import type { IncomingMessage } from 'node:http';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/**
 * Reads a request's target by RFC 9112: at most one `Host`, which an absolute target overrides. Later handlers see a
 * path and one host.
 *
 * @throws SuzumioError `invalid-request`
 */
export function readTarget(request: IncomingMessage): void {
  const { headers, rawHeaders, url = '' } = request;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1) throw new SuzumioError('invalid-request', 'A request has one Host header.');
  // Express would have Node's deprecated parser read a target with a fragment, or `*`.
  if (url.includes('#')) throw new SuzumioError('invalid-request', 'The target of a request has no fragment.');
  if (url.startsWith('/')) return;
  const target = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  const [, authority = ''] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (target === undefined || authority === '' || authority.includes('@')) {
    throw new SuzumioError('invalid-request', 'The target of a request is a path, or an http address.');
  }
  headers.host = authority;
  request.url = `${target.pathname}${target.search}`;
}
