import { BlockList, isIP } from 'node:net';
import { shortestSecret } from '../observability/redactor.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy as a variable names it. Its URL has its credentials, and is not for display. */
export interface Proxy {
  readonly url: URL;
  readonly variable: string;
}

/** How a proxy is shown: without its credentials. */
export const shownProxy = ({ url, variable }: Proxy): string => `${url.host} (${variable})`;

/** The value of `Proxy-Authorization`, where the proxy's URL has credentials. */
export function proxyAuthorization({ url: { username, password } }: Proxy): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')}`;
}

/**
 * The proxies that an environment names, read as curl and Git read them: lower case counts before upper case, a scheme's own
 * variable before ALL_PROXY, and an entry of NO_PROXY holds for the names below it. Loopback is always reached directly.
 */
export class ProxySettings {
  /** What NO_PROXY says, as it was written. */
  readonly exceptions: string;
  readonly #proxies: { readonly 'http:': Proxy | undefined; readonly 'https:': Proxy | undefined };
  readonly #direct: readonly ((host: string, port: string) => boolean)[];

  constructor(environment: Environment) {
    this.#proxies = {
      'http:': named(environment, 'http_proxy', 'all_proxy'),
      'https:': named(environment, 'https_proxy', 'all_proxy'),
    };
    this.exceptions = valueOf(environment, 'no_proxy')?.value ?? '';
    this.#direct = this.exceptions.split(/[\s,]+/).flatMap((entry) => (entry === '' ? [] : [exception(entry)]));
  }

  /** The proxies for http:// and https://. */
  get all(): readonly Proxy[] {
    return Object.values(this.#proxies).filter((proxy) => proxy !== undefined);
  }

  for(scheme: 'http' | 'https'): Proxy | undefined {
    return this.#proxies[`${scheme}:`];
  }

  /** The proxy for a request, if any. */
  proxyFor(address: URL): Proxy | undefined {
    if (address.protocol !== 'http:' && address.protocol !== 'https:') return undefined;
    const proxy = this.#proxies[address.protocol];
    const host = plainHost(address.hostname);
    if (!proxy || isLoopback(host)) return undefined;
    const port = address.port === '' ? defaultPorts[address.protocol] : address.port;
    return this.#direct.some((matches) => matches(host, port)) ? undefined : proxy;
  }

  /** The credentials in the proxies' URLs, in each form in which they may be echoed. */
  get secrets(): string[] {
    return this.all.flatMap((proxy) => {
      const { username, password } = proxy.url;
      const basic = proxyAuthorization(proxy)?.replace('Basic ', '') ?? '';
      return [`${username}:${password}@`, password, decoded(password), basic].filter(
        ({ length }) => length >= shortestSecret,
      );
    });
  }
}

/**
 * Keeps Node's own use of proxies (NODE_USE_ENV_PROXY) from loopback, where services of this machine answer. Node reads
 * NO_PROXY again before each `fetch`.
 */
export function keepLoopbackDirect(environment: NodeJS.ProcessEnv): void {
  if (new ProxySettings(environment).all.length === 0) return;
  const { value = '' } = valueOf(environment, 'no_proxy') ?? {};
  const direct = [value, 'localhost', '127.0.0.1', '[::1]'].filter((entry) => entry !== '').join(',');
  environment.no_proxy = direct;
  environment.NO_PROXY = direct;
}

const defaultPorts = { 'http:': '80', 'https:': '443' } as const;

function named(environment: Environment, ...names: string[]): Proxy | undefined {
  for (const name of names) {
    const found = valueOf(environment, name);
    if (!found) continue;
    const { value, variable } = found;
    const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`);
    // What is no URL is refused where it is used: a direct request would pass by the proxy that was meant.
    return { url: url ?? new URL('invalid://unreadable'), variable };
  }
  return undefined;
}

function valueOf(environment: Environment, name: string): { value: string; variable: string } | undefined {
  for (const variable of [name, name.toUpperCase()]) {
    const value = environment[variable]?.trim() ?? '';
    if (value !== '') return { value, variable };
  }
  return undefined;
}

/** What an entry of NO_PROXY matches: `*`, a name and those below it, an address, a range; each with a port, perhaps. */
function exception(entry: string): (host: string, port: string) => boolean {
  if (entry === '*') return () => true;
  const [, bracketed, plain = '', ofPort] = /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const isAddress = isIP(entry) !== 0 || (entry.includes('/') && entry.split(':').length > 2);
  const name = plainHost(isAddress ? entry : (bracketed ?? plain)).replace(/^\*?\./, '');
  const port = isAddress ? undefined : ofPort;
  const matches = name.includes('/') ? inRange(name) : (host: string) => host === name || below(host, name);
  return (host, asked) => name !== '' && (port === undefined || port === asked) && matches(host);
}

const below = (host: string, name: string) => isIP(host) === 0 && host.endsWith(`.${name}`);

function inRange(range: string): (host: string) => boolean {
  const [address = '', bits = ''] = range.split('/');
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  const prefix = Number(bits);
  if (isIP(address) === 0 || !/^\d+$/.test(bits) || prefix > (family === 'ipv6' ? 128 : 32)) return () => false;
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return (host) => isIP(host) !== 0 && list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
}

/** The last is what containers call the machine that they are on. */
const thisMachine = ['localhost', 'docker.internal'];
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('0.0.0.0', 'ipv4');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return thisMachine.some((name) => host === name || host.endsWith(`.${name}`));
  return loopback.check(host, family === 6 ? 'ipv6' : 'ipv4');
}

/** A host as it is compared: without brackets, a final dot, or capitals; an IPv6 address in its shortest form. */
function plainHost(host: string): string {
  const plain = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  return isIP(plain) === 6 ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : plain;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
