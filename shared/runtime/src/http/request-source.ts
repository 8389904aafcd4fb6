import type { RequestHandler } from 'express';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Where a listener is, and what it is called. */
export interface ListenerNames {
  /** The address that it is bound to. */
  host: string;
  /** Names by which it is reached besides that and those of loopback. */
  allowedHosts?: readonly string[] | undefined;
}

/** Throws where a request was addressed to another host, or a page of another origin sends a write. */
export type SourceCheck = (request: Pick<IncomingMessage, 'method' | 'headers'>) => void;

const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Makes the check of one listener. A page can make its own name resolve to this machine, but cannot make the browser say
 * another name than its own; an address is no name, so a listener that others reach answers to every one.
 *
 * The check throws SuzumioError `foreign-host`, `foreign-origin`.
 */
export function sourceCheck({ host, allowedHosts = [] }: ListenerNames): SourceCheck {
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
    if (method !== 'GET' && method !== 'HEAD' && comesFromElsewhere(headers)) {
      throw new SuzumioError('foreign-origin', 'Pages of other origins may not change anything here.');
    }
  };
}

/** The same, for an application. */
export function refuseForeignRequests(names: ListenerNames): RequestHandler {
  const check = sourceCheck(names);
  return (request, _response, next) => {
    check(request);
    next();
  };
}

/** Whether an address, or the name of one, leads to this machine alone. */
export function isLoopback(host: string): boolean {
  const name = nameOf(bracketed(host)) ?? '';
  return loopbackNames.includes(name) || /^127(\.\d+){3}$/.test(name);
}

/** Browsers send `Origin` with every write, and newer ones say how it stands to the server. Programs send neither. */
function comesFromElsewhere(headers: IncomingMessage['headers']): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host } = headers;
  return origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== urlOf(host)?.host);
}

/** The name or address in a `Host` header, as browsers write it; undefined where there is none or something else. */
function nameOf(host: string | undefined): string | undefined {
  return urlOf(host)?.hostname;
}

function urlOf(host: string | undefined): URL | undefined {
  if (host === undefined || !/^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)(:\d{1,5})?$/i.test(host)) return undefined;
  const url = `http://${host}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}

/** An IPv6 address as it stands in a URL. */
function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function isAddress(name: string): boolean {
  return isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}
