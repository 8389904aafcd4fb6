import type { Environment } from '@suzumio/core/config/environment';
import { unusableProxy } from '@suzumio/runtime/http/outbound';
import { proxyAuthorization, ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { broken, type Finding, ok, skipped } from './check.js';

/** The proxies that this process would ask models and clone repositories through. Their credentials are not shown. */
export function checkProxy(environment: Environment): Finding {
  const settings = new ProxySettings(environment);
  const { exceptions } = settings;
  const [first] = settings.all;
  if (!first) return skipped('proxy', 'none is set: models and repositories are reached directly');
  const unusable = settings.all.map(unusableProxy).find((fault) => fault !== undefined);
  if (unusable !== undefined) return broken('proxy', unusable, 'correct it, or unset it');
  const parts = (['http', 'https'] as const).map((scheme) => {
    const proxy = settings.for(scheme);
    if (!proxy) return `${scheme}:// directly`;
    const who = proxyAuthorization(proxy) === undefined ? '' : ' with a name and a password';
    return `${scheme}:// through ${proxy.url.host}${who} (${proxy.variable})`;
  });
  const not = exceptions === '' ? '' : `; not for ${exceptions} (NO_PROXY)`;
  return ok('proxy', `${parts.join(', ')}${not}`);
}
