import type { RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** A listener's address and names. */
export interface ListenerNames {
  /** The address that it is bound to. */
  host: string;
  /** Further names that it accepts besides that and loopback's. */
  allowedHosts?: readonly string[] | undefined;
  /** Other origins whose pages may send writes, such as `https://team.example`. */
  allowedOrigins?: readonly string[] | undefined;
}

/** Throws where a request is addressed to another host, or a page of another origin sends a write. */
export type SourceCheck = (request: Pick<IncomingMessage, 'method' | 'headers'>) => void;

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Makes the check of one listener. A page can resolve its own name to this machine (DNS rebinding), but the browser
 * still sends that name as `Host`. Addresses are not names, so a listener for other machines accepts any address.
 *
 * The check throws SuzumioError `foreign-host`, `foreign-origin`.
 */
export function sourceCheck({ host, allowedHosts = [], allowedOrigins = [] }: ListenerNames): SourceCheck {
  const names = new Set([...loopbackNames, ...[host, ...allowedHosts].map((name) => nameOf(bracketed(name)) ?? '')]);
  const anyAddress = !isLoopback(host);
  return ({ method, headers }) => {
    const name = nameOf(headers.host);
    if (name === undefined || !(names.has(name) || (anyAddress && isAddress(name)))) {
      throw new SuzumioError(
        'foreign-host',
        'This server does not answer to that host name; its operator may allow it with SUZUMIO_ALLOWED_HOSTS.',
      );
    }
    if (allowedOrigins.includes(headers.origin ?? '')) return;
    if (method !== 'GET' && method !== 'HEAD' && comesFromElsewhere(headers)) {
      throw new SuzumioError('foreign-origin', 'Pages of other origins may not change anything here.');
    }
  };
}

/** The check as Express middleware. */
export function refuseForeignRequests(names: ListenerNames): RequestHandler {
  const check = sourceCheck(names);
  return (request, _response, next) => {
    check(request);
    next();
  };
}

/** Whether an address or name leads to this machine alone. */
export function isLoopback(host: string): boolean {
  const name = nameOf(bracketed(host)) ?? '';
  return loopbackNames.includes(name) || /^127(\.\d+){3}$/.test(name);
}

/** Browsers send `Origin` with every write, and newer ones `Sec-Fetch-Site`. Programs send neither. */
function comesFromElsewhere(headers: IncomingMessage['headers']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== urlOf(host)?.host);
}

/** The name or address in a `Host` header; undefined where there is no valid one. */
function nameOf(host: string | undefined): string | undefined {
  return urlOf(host)?.hostname;
}

function urlOf(host: string | undefined): URL | undefined {
  if (host === undefined || !/^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)(:\d{1,5})?$/i.test(host)) return undefined;
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** An IPv6 address as in a URL. */
function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}
