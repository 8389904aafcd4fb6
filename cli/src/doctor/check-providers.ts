import { connectionFailure } from '@suzumio/runtime/http/connection-failure';
import { answerTo, Outbound } from '@suzumio/runtime/http/outbound';
import { ProxySettings, shownProxy } from '@suzumio/runtime/http/proxy-settings';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { policyWithGrants } from '@suzumio/store/cell/grants';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import { readConfig } from '@suzumio/store/projects/read-project';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { hostPolicy } from '../host-policy.js';
import { describePair, isSamePair, pairsOf, type ProviderPair } from '../providers/provider-pair.js';
import type { Session } from '../session.js';
import { broken, type Finding, ok, skipped } from './check.js';

const answerWithinMs = 4_000;
/** They are asked all at once. */
const mostAsked = 20;
const mostProjects = 200;

/**
 * Asks each provider that the policy names, and that running projects use, for its list of models: with the key that this
 * process has for it, since only allowed providers are asked.
 *
 * @param serving whether a server runs, whose variables are not known here
 */
export async function checkProviders(session: Session, serving: boolean): Promise<Finding[]> {
  let pairs: ProviderPair[];
  try {
    pairs = pairsInUse(session);
  } catch (error) {
    return [skipped('models', `it is not known which providers are used: ${messageOf(error)}`)];
  }
  if (pairs.length === 0) return [skipped('models', 'neither the policy nor a running project names a provider')];
  const asked = pairs.slice(0, mostAsked).map((pair) => checkProvider(pair, session, serving));
  const left = pairs.length - asked.length;
  return [...(await Promise.all(asked)), ...(left > 0 ? [skipped('models', `${left} other providers`)] : [])];
}

function pairsInUse(session: Session): ProviderPair[] {
  const policy = hostPolicy(session);
  const directory = new DataDirectory(session.root);
  const policyOf = policyWithGrants(policy, directory);
  const cell = new ReadOnlyCell(session.root);
  const running = new Set(cell.catalogued().flatMap(({ id, status }) => (status === 'running' ? [id] : [])));
  const looked = cell
    .projects()
    .filter((id) => running.has(id))
    .slice(0, mostProjects);
  const used = looked.flatMap((id) => {
    const named = [...pairsOf(cell.read(id, readConfig)).values()];
    return named.filter((pair) => policyOf(id).providers.some((one) => isSamePair(one, pair)));
  });
  const all = [...policy.providers, ...used];
  return all.filter((pair, index) => all.findIndex((other) => isSamePair(pair, other)) === index);
}

async function checkProvider(pair: ProviderPair, { context }: Session, serving: boolean): Promise<Finding> {
  const what = describePair(pair);
  const variable = [pair.baseURLEnv, pair.apiKeyEnv].find((name) => name !== undefined && !context.env[name]);
  if (variable !== undefined) {
    return serving
      ? skipped('models', `${what}: ${variable} is not set here; what the server has is not known`)
      : broken('models', `${what}: ${variable} is not set`, `set ${variable} where serve or up is started`);
  }
  const baseURL = pair.baseURL ?? context.env[pair.baseURLEnv ?? ''] ?? '';
  const key = pair.apiKeyEnv === undefined ? undefined : context.env[pair.apiKeyEnv];
  if (!/^https?:$/.test(URL.parse(baseURL)?.protocol ?? '')) {
    return broken('models', `${what}: this is no http:// or https:// URL`, 'correct its baseURL');
  }
  const limit = AbortSignal.timeout(answerWithinMs);
  const { url, authorization } = listOfModels(baseURL, key);
  const outbound = new Outbound(new ProxySettings(context.env));
  const proxy = outbound.proxyFor(url, authorization !== undefined);
  try {
    const status = await statusOf(outbound, url, authorization, limit);
    return judged(status, { what, baseURL, pair });
  } catch (error) {
    const why = limit.aborted
      ? `it did not answer within ${answerWithinMs / 1000} s`
      : connectionFailure(error, baseURL, proxy && shownProxy(proxy));
    return broken('models', `${what}: ${why}`, 'correct its baseURL, or start it');
  } finally {
    outbound.close();
  }
}

async function statusOf(
  outbound: Outbound,
  url: URL,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const headers = authorization === undefined ? {} : { authorization };
  const hasKey = authorization !== undefined;
  const opened = await outbound.open(url, { method: 'GET', headers, signal, hasKey });
  opened.outgoing.end();
  const response = await answerTo(opened, url);
  response.destroy();
  return response.statusCode ?? 0;
}

/** Where a provider lists its models, and what opens it. A name and a password of the address are no part of a URL to fetch. */
function listOfModels(baseURL: string, key: string | undefined): { url: URL; authorization: string | undefined } {
  const url = new URL(`${baseURL.replace(/\/+$/, '')}/models`);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (key !== undefined) return { url, authorization: `Bearer ${key}` };
  if (username === '' && password === '') return { url, authorization: undefined };
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return { url, authorization: `Basic ${basic}` };
}

function judged(
  status: number,
  { what, baseURL, pair }: { what: string; baseURL: string; pair: ProviderPair },
): Finding {
  if (status === 401) return broken('models', `${what}: it answers 401`, remedyOfRefusal(pair, baseURL));
  if (status === 403) {
    // A key may be restricted to model calls, so this provider counts as working.
    const who = pair.apiKeyEnv === undefined ? 'who asks without a key' : `the key in ${pair.apiKeyEnv}`;
    return skipped('models', `${what}: it answers 403: ${who} may not list models, and perhaps not ask one`);
  }
  if (status === 404 && !/\/v\d/.test(new URL(baseURL).pathname)) {
    return broken('models', `${what}: it has no models there (404)`, 'its baseURL may have to end with /v1');
  }
  if (status >= 500 || (status >= 300 && status < 400)) {
    return broken('models', `${what}: it answers ${status}`, 'correct its baseURL, or see what is wrong with it');
  }
  return ok('models', `${what}: answers${status === 200 ? '' : ` (${status})`}`);
}

function remedyOfRefusal({ apiKeyEnv }: ProviderPair, baseURL: string): string {
  if (apiKeyEnv !== undefined) return `correct the key in ${apiKeyEnv}`;
  const { username, password } = new URL(baseURL);
  return username === '' && password === ''
    ? 'name its key in apiKeyEnv'
    : 'correct the name and the password in its address';
}
