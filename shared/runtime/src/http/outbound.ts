import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect, type TLSSocket } from 'node:tls';
import { connectionFault, ProxyFailure } from './connection-failure.js';
import { type Proxy, proxyAuthorization, type ProxySettings, shownProxy } from './proxy-settings.js';

export interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
  /** Whether the request has a key. Over http:// a proxy would read it, and is passed by. */
  readonly hasKey: boolean;
}

/** A request that may be written, and the proxy that passes it on and may answer for the provider, over http:// alone. */
export interface OpenedRequest {
  readonly outgoing: ClientRequest;
  readonly proxy: Proxy | undefined;
}

/** The longest time for a proxy to connect. */
const connectWithinMs = 30_000;

/**
 * Requests to addresses outside: directly, or through the company's proxy. Its agents are its own, so that Node's use of
 * the same variables (NODE_USE_ENV_PROXY) changes nothing.
 */
export class Outbound {
  readonly #agents = {
    http: new HttpAgent({ keepAlive: true, timeout: 5_000 }),
    https: new HttpsAgent({ keepAlive: true, timeout: 5_000 }),
  };

  constructor(readonly settings: ProxySettings) {}

  /** Ends the connections that wait for another request. */
  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }

  proxyFor(url: URL, hasKey: boolean): Proxy | undefined {
    return hasKey && url.protocol === 'http:' ? undefined : this.settings.proxyFor(url);
  }

  /** @throws ProxyFailure; what `signal` was aborted with; an error of TLS with the address */
  async open(url: URL, { hasKey, ...options }: OutboundRequest): Promise<OpenedRequest> {
    const secure = url.protocol === 'https:';
    const proxy = this.proxyFor(url, hasKey);
    if (!proxy) {
      const agent = secure ? this.#agents.https : this.#agents.http;
      return { outgoing: (secure ? httpsRequest : httpRequest)(url, { ...options, agent }), proxy };
    }
    const unusable = unusableProxy(proxy);
    if (unusable !== undefined) throw new ProxyFailure(unusable, true);
    if (!secure) return { outgoing: this.#throughProxy(url, proxy, options), proxy };
    const socket = await tunnel(url, proxy, options.signal);
    return { outgoing: httpsRequest(url, { ...options, createConnection: () => socket }), proxy: undefined };
  }

  #throughProxy(url: URL, proxy: Proxy, { headers, ...options }: Omit<OutboundRequest, 'hasKey'>): ClientRequest {
    const authorization = proxyAuthorization(proxy);
    return requestOf(proxy)({
      ...addressOf(proxy),
      ...options,
      agent: false,
      path: url.href,
      headers: {
        ...headers,
        host: url.host,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
    });
  }
}

/**
 * The answer to a request, once it comes.
 *
 * @throws ProxyFailure where the proxy fails or answers for the provider
 */
export function answerTo({ outgoing, proxy }: OpenedRequest, { host }: URL): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', (error) => reject(proxy ? atProxy(error, proxy) : error));
    outgoing.on('response', (response) => {
      if (proxy === undefined || response.statusCode !== 407) {
        resolve(response);
        return;
      }
      response.destroy();
      reject(new ProxyFailure(refusalOfProxy(proxy, 407, host), true));
    });
  });
}

/** Why a proxy does not let a request pass, by the status of its answer. */
function refusalOfProxy(proxy: Proxy, status: number, host: string): string {
  const what = `the proxy at ${shownProxy(proxy)}`;
  if (status === 407) {
    return proxyAuthorization(proxy) === undefined
      ? `${what} wants a name and a password (407): write ${proxy.variable} as http://NAME:PASSWORD@${proxy.url.host}`
      : `${what} refuses the name and the password in ${proxy.variable} (407)`;
  }
  if (status === 403 || status === 405) {
    return `${what} lets nothing through to ${host} (${status}): have it allowed there, or name it in NO_PROXY if it is reached directly`;
  }
  return `${what} could not connect to ${host} (${status})`;
}

/** Why a proxy cannot be used by what its variable says, if it cannot. */
export function unusableProxy({ url: { protocol }, variable }: Proxy): string | undefined {
  if (protocol === 'http:' || protocol === 'https:') return undefined;
  const why = protocol === 'invalid:' ? 'is no URL' : `begins with ${protocol}//`;
  return `${variable} ${why}: a proxy is http://HOST:PORT or https://HOST:PORT`;
}

/** A TLS connection to an address, through a proxy's CONNECT. */
async function tunnel(url: URL, proxy: Proxy, signal: AbortSignal): Promise<TLSSocket> {
  const limit = AbortSignal.timeout(connectWithinMs);
  const either = AbortSignal.any([signal, limit]);
  const late = () =>
    new ProxyFailure(
      `the proxy at ${shownProxy(proxy)} has not connected to ${url.host} within ${connectWithinMs / 1000} s`,
      false,
    );
  try {
    const socket = await connected(url, proxy, either);
    return await secured(socket, url, either);
  } catch (error) {
    throw limit.aborted && !signal.aborted ? late() : error;
  }
}

function connected(url: URL, proxy: Proxy, signal: AbortSignal): Promise<Duplex> {
  const authorization = proxyAuthorization(proxy);
  const target = `${url.hostname}:${url.port === '' ? '443' : url.port}`;
  return new Promise((resolve, reject) => {
    const asked = requestOf(proxy)({
      ...addressOf(proxy),
      agent: false,
      method: 'CONNECT',
      path: target,
      signal,
      headers: {
        host: target,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
    });
    const refused = ({ statusCode = 0 }: IncomingMessage) => {
      asked.destroy();
      reject(new ProxyFailure(refusalOfProxy(proxy, statusCode, url.host), statusCode > 400 && statusCode < 500));
    };
    asked.on('error', (error) => reject(signal.aborted ? error : atProxy(error, proxy)));
    asked.on('response', refused);
    asked.on('connect', (response, socket: Duplex, head: Buffer) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        refused(response);
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.end();
  });
}

function secured(socket: Duplex, url: URL, signal: AbortSignal): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const secure = tlsConnect({
      socket,
      host,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    const onAbort = () => secure.destroy(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    const settled = () => signal.removeEventListener('abort', onAbort);
    secure.once('error', (error: Error) => {
      settled();
      reject(error);
    });
    secure.once('secureConnect', () => {
      settled();
      resolve(secure);
    });
  });
}

/** An error before the proxy has answered. */
function atProxy(error: unknown, proxy: Proxy): ProxyFailure {
  const what = `the proxy at ${shownProxy(proxy)}`;
  return new ProxyFailure(`${what} could not be asked: ${connectionFault(error, proxy.url, proxy.variable)}`, false, {
    cause: error,
  });
}

const requestOf = ({ url }: Proxy) => (url.protocol === 'https:' ? httpsRequest : httpRequest);

function addressOf({ url }: Proxy): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
