import type { IncomingMessage } from 'node:http';
import { beforeEach, expect, test } from '@jest/globals';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { refusalLog } from '@suzumio/runtime/http/refusal-log';
import { createMetrics, type Metrics } from '@suzumio/runtime/observability/metrics';
import { recordingLogger } from '../../../../test/support/logs.js';

let metrics: Metrics;
let log: ReturnType<typeof recordingLogger>;
let nowMs: number;
let tell: (code: ErrorCode, url?: string) => void;
beforeEach(() => {
  metrics = createMetrics('api');
  log = recordingLogger();
  nowMs = 0;
  const refused = refusalLog({ logger: log.logger, metrics }, () => nowMs);
  tell = (code, url = '/api/projects?token=hunter22') => {
    const request = { method: 'GET', url, socket: { remoteAddress: '10.0.0.7' } };
    refused(new SuzumioError(code, 'No.'), request as unknown as IncomingMessage);
  };
});

const warnings = () => log.lines().filter(({ level }) => level === 'warn');

test('a refusal leaves a line with its code, and nothing of what was shown', () => {
  tell('unauthenticated');
  expect(warnings()).toMatchObject([
    { code: 'unauthenticated', method: 'GET', path: '/api/projects', from: '10.0.0.7', msg: 'a request was refused' },
  ]);
  expect(JSON.stringify(log.lines())).not.toContain('hunter22');
});

test('other errors leave nothing here', () => {
  tell('project-unknown');
  expect(log.lines()).toEqual([]);
});

test('however many there are and however long, a second has twenty lines of them and one that says so', async () => {
  for (let n = 0; n < 1_000; n += 1) tell('foreign-origin', `/${'x'.repeat(16_000)}`);
  expect(warnings()).toHaveLength(21);
  expect(warnings().at(-1)).toMatchObject({
    msg: 'more requests were refused in this second, and are only counted',
  });
  for (const line of warnings()) expect(JSON.stringify(line).length).toBeLessThan(500);
  const counted = await metrics.registry.getSingleMetricAsString('suzumio_requests_refused_total');
  expect(counted).toMatch(/code="foreign-origin".* 1000$/m);
  nowMs = 1_000;
  tell('foreign-origin');
  expect(warnings()).toHaveLength(22);
});
