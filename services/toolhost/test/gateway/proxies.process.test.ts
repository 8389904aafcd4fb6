import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Outbound } from '@suzumio/runtime/http/outbound';
import { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import { type ConnectProxy, startConnectProxy, testCertificate } from '../../../../test/support/connect-proxy.js';
import { freePort } from '../../../../test/support/free-port.js';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { askProvider, type ProviderRequest, written } from '../../src/gateway/ask-provider.js';
import { chatFormat } from '../../src/gateway/chat.js';
import { ProviderFailure } from '../../src/gateway/provider-failure.js';

const { key, cert } = testCertificate('models.example');
const authorities = getCACertificates('default');

let model: ModelServer;
let secure: Server;
let proxy: ConnectProxy;
let toPort: number;

beforeAll(async () => {
  model = await startModelServer(() => ({ text: 'Yes.' }));
  const answer = { choices: [{ message: { content: 'Yes, safely.' }, finish_reason: 'stop' }], model: 'm' };
  secure = createServer({ key, cert }, (incoming, outgoing) => {
    incoming.resume();
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(JSON.stringify(answer));
  });
  await once(secure.listen(0, '127.0.0.1'), 'listening');
  proxy = await startConnectProxy(() => toPort);
  setDefaultCACertificates([...authorities, cert]);
});
afterAll(async () => {
  setDefaultCACertificates(authorities);
  await proxy.close();
  secure.close();
  await model.close();
});
beforeEach(() => {
  toPort = (secure.address() as AddressInfo).port;
  proxy.refuse = undefined;
  proxy.asked.length = 0;
  proxy.authorizations.length = 0;
});

async function ask(environment: Record<string, string>, settings: Partial<ProviderRequest> = {}): Promise<string> {
  const outbound = new Outbound(new ProxySettings(environment));
  const request: ProviderRequest = {
    baseURL: 'https://models.example/v1',
    format: chatFormat,
    headers: { authorization: 'Bearer key-of-the-provider' },
    body: { model: 'm', messages: [], stream: false },
    timeoutMs: 10_000,
    silenceMs: 5_000,
    outbound,
    ...settings,
  };
  try {
    return (await askProvider(written(request))).text;
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return `${error.kind}: ${error.message}`;
  } finally {
    outbound.close();
  }
}

describe('a provider behind a proxy', () => {
  test('is asked over https through CONNECT, with the credentials of the proxy, which are not shown to the provider', async () => {
    expect(await ask({ HTTPS_PROXY: `http://me:pass%20word@${proxy.host}` })).toBe('Yes, safely.');
    expect(proxy.asked).toEqual(['CONNECT models.example:443']);
    const basic = Buffer.from('me:pass word').toString('base64');
    expect(proxy.authorizations).toEqual([`Basic ${basic}`]);
  });

  test('is asked over http through it where nothing of the request is secret', async () => {
    toPort = Number(new URL(model.baseURL).port);
    const open = { baseURL: 'http://models.example/v1', headers: {}, body: { model: 'm', messages: [], stream: true } };
    expect(await ask({ HTTP_PROXY: `http://${proxy.host}` }, open)).toBe('Yes.');
    expect(proxy.asked).toEqual(['POST http://models.example/v1/chat/completions']);
  });

  test.each([
    ['a key', 'http://nowhere.invalid/v1', { authorization: 'Bearer key' }],
    ['any header', 'http://nowhere.invalid/v1', { 'x-token': 'key' }],
    ['a password', 'http://me:secret@nowhere.invalid/v1', {}],
    ['a query', 'http://nowhere.invalid/v1?key=1', {}],
  ])('is asked past it over http with %s', async (_, baseURL, headers) => {
    const told = await ask({ HTTP_PROXY: `http://${proxy.host}` }, { baseURL, headers });
    expect(told).toContain('unavailable: the provider at nowhere.invalid could not be asked');
    expect(proxy.asked).toEqual([]);
  });

  test('is asked directly where NO_PROXY names it, and on this machine in any case', async () => {
    const all = { HTTPS_PROXY: `http://${proxy.host}`, HTTP_PROXY: `http://${proxy.host}` };
    const open = { baseURL: model.baseURL, headers: {}, body: { model: 'm', messages: [], stream: true } };
    expect(await ask(all, open)).toBe('Yes.');
    expect(await ask({ ...all, NO_PROXY: '.invalid' }, { baseURL: 'https://nowhere.invalid/v1' })).toContain('invalid');
    expect(proxy.asked).toEqual([]);
  });
});

describe('what a proxy does not let through', () => {
  const secret = 'pass-of-the-proxy';

  test.each([
    [407, 'request-refused', 'refuses the name and the password in HTTPS_PROXY (407)'],
    [403, 'request-refused', 'lets nothing through to models.example (403)'],
    [502, 'unavailable', 'could not connect to models.example (502)'],
  ])('is told as its own: %i', async (status, kind, why) => {
    proxy.refuse = status;
    const told = await ask({ HTTPS_PROXY: `http://me:${secret}@${proxy.host}` });
    expect(told).toContain(
      `${kind}: the provider at models.example could not be asked: the proxy at ${proxy.host} (HTTPS_PROXY) ${why}`,
    );
    expect(told).not.toContain(secret);
  });

  test('wants a name and a password', async () => {
    proxy.refuse = 407;
    expect(await ask({ https_proxy: proxy.host })).toContain(`write https_proxy as http://NAME:PASSWORD@${proxy.host}`);
  });

  test('refuses over http, too, and shows no credentials', async () => {
    const open = { baseURL: 'http://models.example/v1', headers: {} };
    const environment = { HTTP_PROXY: `http://me:${secret}@${proxy.host}` };
    proxy.refuse = 407;
    expect(await ask(environment, open)).toContain('refuses the name and the password in HTTP_PROXY (407)');
    proxy.refuse = 400;
    expect(await ask(environment, open)).not.toContain(Buffer.from(`me:${secret}`).toString('base64'));
  });

  test('does not answer', async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const told = `the proxy at ${nobody} (HTTPS_PROXY) could not be asked: nobody listens there (ECONNREFUSED)`;
    expect(await ask({ HTTPS_PROXY: `http://${nobody}` })).toContain(told);
    const open = { baseURL: 'http://models.example/v1', headers: {} };
    expect(await ask({ HTTP_PROXY: `http://${nobody}` }, open)).toContain('(HTTP_PROXY) could not be asked: nobody');
  });

  test('opens TLS: the file that names its authority is told', async () => {
    setDefaultCACertificates(authorities);
    try {
      const told = await ask({ HTTPS_PROXY: `http://${proxy.host}` });
      expect(told).toContain('its certificate is not trusted');
      expect(told).toContain(
        `NODE_EXTRA_CA_CERTS names a file with the authority that signed it; the proxy at ${proxy.host} (HTTPS_PROXY) may open TLS`,
      );
    } finally {
      setDefaultCACertificates([...authorities, cert]);
    }
  });

  test.each([
    ['socks5://p:1080', 'HTTPS_PROXY begins with socks5://: a proxy is http://HOST:PORT or https://HOST:PORT'],
    ['http://', 'HTTPS_PROXY is no URL'],
  ])('is no proxy for HTTP: %s', async (value, why) => {
    expect(await ask({ HTTPS_PROXY: value })).toContain(why);
  });
});
