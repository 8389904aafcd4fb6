import type { Request, Response } from 'express';
import type { SessionView } from '@suzumio/contract/model/session';
import type { BrowserPlace } from './browser-place.js';

/** Cookies are the same for all ports of a host: the name holds the port, so that two servers keep to their own. */
function nameAt({ origin }: BrowserPlace): string {
  const { port, protocol } = new URL(origin);
  return `suzumio-session-${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;
}

/** The secret of the session that a request comes from. */
export function sessionSecret({ headers }: Request, place: BrowserPlace): string | undefined {
  const beginning = `${nameAt(place)}=`;
  const own = headers.cookie?.split(/; */).find((one) => one.startsWith(beginning));
  return own?.slice(beginning.length);
}

/**
 * Has the browser keep a session's secret. No script reads it, and no other site has it sent. A browser on the same
 * machine reaches the server without TLS, where not every browser keeps what is marked as secure.
 */
export function keepSession(response: Response, place: BrowserPlace, secret: string, { expiresAt }: SessionView): void {
  response.cookie(nameAt(place), secret, { ...attributesAt(place), expires: new Date(expiresAt) });
}

/** Has the browser forget it. */
export function dropSession(response: Response, place: BrowserPlace): void {
  response.clearCookie(nameAt(place), attributesAt(place));
}

function attributesAt({ origin, path }: BrowserPlace) {
  return {
    httpOnly: true,
    sameSite: 'strict',
    secure: origin.startsWith('https:'),
    path: path === '' ? '/' : path,
  } as const;
}
