import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { Registry } from 'prom-client';
import type { HttpServer } from '@suzumio/runtime/http/http-server';
import { type Readiness, startHealthListener } from '@suzumio/runtime/process/health-listener';
import { createMetrics, type Metrics } from '@suzumio/runtime/observability/metrics';
import { recordingLogger } from '../../../../test/support/logs.js';

let listener: HttpServer;
let readiness: () => Promise<Readiness>;
let metrics: Metrics;
let log: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  readiness = () => Promise.resolve({ ready: true });
  metrics = createMetrics('api');
  log = recordingLogger();
  listener = await startHealthListener({
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['api'],
    metrics,
    logger: log.logger,
    readiness: () => readiness(),
  });
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

test.each([
  ['127.0.0.1:9464', 200],
  ['api:9464', 200],
  ['scheduler:9464', 403],
  ['evil.example', 403],
])('asked as %s it answers %i', async (host, expected) => {
  for (const path of ['/metrics', '/healthz', '/readyz']) {
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(`${listener.url}${path}`, { headers: { host }, agent: false }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      request.once('error', reject).end();
    });
    expect({ path, status }).toEqual({ path, status: expected });
  }
  expect(log.lines().filter(({ code }) => code === 'foreign-host')).toHaveLength(expected === 403 ? 3 : 0);
  const refused = await metrics.registry.getSingleMetricAsString('suzumio_requests_refused_total');
  expect(/code="foreign-host".* 3$/m.test(refused)).toBe(expected === 403);
});
