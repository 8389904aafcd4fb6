import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { HttpServer } from '@suzumio/shared/http/http-server';
import { type Readiness, startHealthListener } from '@suzumio/shared/observability/health-listener';
import { createMetrics } from '@suzumio/shared/observability/metrics';

let listener: HttpServer;
let readiness: () => Promise<Readiness>;

beforeEach(async () => {
  readiness = () => Promise.resolve({ ready: true });
  const { registry } = createMetrics('api');
  listener = await startHealthListener({ host: '127.0.0.1', port: 0, registry, readiness: () => readiness() });
});
afterEach(() => listener.stop());

const get = async (path: string, method = 'GET') => {
  const response = await fetch(`${listener.url}${path}`, { method });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
};

test('metrics are Prometheus text', async () => {
  const { status, type, text } = await get('/metrics');
  expect(status).toBe(200);
  expect(type).toBe(Registry.PROMETHEUS_CONTENT_TYPE);
  expect(text).toContain('# TYPE suzumio_turns_ended_total counter');
});

test.each<[string, Readiness, number, string]>([
  ['ready', { ready: true }, 200, 'ready'],
  ['ready but worse than usual', { ready: true, degraded: ['redis'] }, 200, 'degraded'],
  ['not ready', { ready: false, degraded: ['store'] }, 503, 'not-ready'],
])('it tells that a service is %s', async (_name, value, status, word) => {
  readiness = () => Promise.resolve(value);
  const answer = await get('/readyz');
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text)).toEqual({ status: word, degraded: value.degraded ?? [] });
  expect((await get('/healthz')).status).toBe(200);
});

test('a readiness that fails is a 500, not a hang', async () => {
  readiness = () => Promise.reject(new Error('the store is closed'));
  expect((await get('/readyz')).status).toBe(500);
});

test('anything else is refused', async () => {
  expect((await get('/secrets')).status).toBe(404);
  expect((await get('/metrics', 'POST')).status).toBe(405);
});
