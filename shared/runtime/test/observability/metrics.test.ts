import { expect, test } from '@jest/globals';
import { createMetrics } from '@suzumio/runtime/observability/metrics';

test('every metric of ours follows the conventions: prefix, unit or total, help', async () => {
  const definitions = (await createMetrics('api').registry.getMetricsAsJSON()).filter(({ name }) =>
    name.startsWith('suzumio_'),
  );
  expect(definitions.length).toBeGreaterThan(5);
  for (const { name, help, type } of definitions) {
    expect(help).toMatch(/^[A-Z].*\.$/);
    if (String(type) === 'counter') expect(name).toMatch(/_total$/);
    if (String(type) === 'histogram') expect(name).toMatch(/_seconds$/);
  }
});

test('what is counted is shown with its labels and the service', async () => {
  const metrics = createMetrics('toolhost');
  metrics.turnsEnded.inc({ outcome: 'failed', code: 'time-limit' });
  metrics.leasesExpired.inc({});
  metrics.stageDuration.observeMs({ stage: 'claimed' }, 20);
  metrics.sseClients.set(3);
  const text = await metrics.registry.metrics();
  expect(text).toContain('suzumio_turns_ended_total{outcome="failed",code="time-limit",service="toolhost"} 1');
  expect(text).toContain('suzumio_leases_expired_total{service="toolhost"} 1');
  expect(text).toContain('suzumio_turn_stage_duration_seconds_bucket{le="0.025",service="toolhost",stage="claimed"} 1');
  expect(text).toContain('suzumio_sse_clients{service="toolhost"} 3');
  expect(text).toContain('process_cpu_seconds_total');
});

test('a value that no label allows adds no series', async () => {
  const metrics = createMetrics('toolhost');
  for (let n = 0; n < 100; n += 1) metrics.toolCalls.inc({ tool: `evil-${n}`, outcome: 'refused' });
  const text = await metrics.registry.metrics();
  expect(text).toContain('suzumio_tool_calls_total{tool="other",outcome="refused",service="toolhost"} 100');
  expect(text).not.toContain('evil');
});
