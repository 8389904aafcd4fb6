import type { IncomingMessage } from 'node:http';
import { isLoopback } from '@suzumio/runtime/http/request-source';

type Headers = IncomingMessage['headers'];

/** Where a browser reaches this server. */
export interface BrowserPlace {
  /** What the browser sends as `Origin`. */
  origin: string;
  /** The path that this server is below there, without a slash at its end; empty without one. */
  path: string;
}

/**
 * Where the browser that sent a request reaches this server: at its public address, or on its own machine. Undefined
 * elsewhere: there a page is shown, but nobody can sign in.
 */
export function browserPlace({ host = '' }: Headers, publicUrl: string | undefined): BrowserPlace | undefined {
  const known = publicPlace(publicUrl);
  if (known && new URL(known.origin).host === host.toLowerCase()) return known;
  const name = URL.parse(`http://${host}`)?.hostname;
  return name !== undefined && isLoopback(name) ? { origin: `http://${host.toLowerCase()}`, path: '' } : undefined;
}

/** The public address of this server, where it has one. */
export function publicPlace(publicUrl: string | undefined): BrowserPlace | undefined {
  if (publicUrl === undefined) return undefined;
  const { origin, pathname } = new URL(publicUrl);
  return { origin, path: pathname.replace(/\/+$/, '') };
}

/** Whether what is sent to a place cannot be read on its way: over TLS, or within one machine. */
export function isPrivate({ origin }: BrowserPlace): boolean {
  const { protocol, hostname } = new URL(origin);
  return protocol === 'https:' || isLoopback(hostname);
}

/**
 * Whether a request with a cookie comes from a page of this server: a write says so by its `Origin`, scheme included,
 * and what a browser says about a read must not contradict it.
 */
export function isOwnPage(method: string, headers: Headers, place: BrowserPlace): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== undefined) return origin === place.origin;
  if (method !== 'GET' && method !== 'HEAD') return false;
  return site === undefined || site === 'same-origin' || site === 'none';
}
