import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { dashboardQueries } from './support/dashboard.js';
import { promtool, promtoolCheck, startPrometheus, type TestPrometheus } from './support/prometheus.js';
import { type Stack, startStack } from './support/stack.js';

const configFile = fileURLToPath(new URL('../deploy/prometheus/prometheus.yml', import.meta.url));
const alertFile = fileURLToPath(new URL('../deploy/prometheus/alerts.yml', import.meta.url));
const alertCases = fileURLToPath(new URL('../deploy/prometheus/alerts.test.yml', import.meta.url));
const page = readFileSync(new URL('../docs/metrics.md', import.meta.url), 'utf8');

const project = 'metrics';
const projectFile = `
name: ${project}
task: Be counted.
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: writer
        steps:
          - tool: messages.send
            input: { recipient: lead, body: "Noted." }
          - text: Sent.
      - agent: sleeper
        steps:
          - wait: 5m
agents:
  lead: { role: lead, prompt: Read., tools: [] }
  writer: { role: writer, prompt: Write., tools: [messages.send] }
  sleeper: { role: sleeper, prompt: Sleep., tools: [] }
`;

const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('prometheus');

(skipped ? describe.skip : describe)('a Prometheus that watches a cell', () => {
  let stack: Stack;
  let prometheus: TestPrometheus;
  const started: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    stack = await startStack({ backends: ['process'], sweepMs: 500 });
    started.unshift(stack);
    prometheus = await startPrometheus(configuration(stack));
    started.unshift(prometheus);
  });
  afterAll(async () => {
    for (const service of started) await service.stop();
  });

  /** Waits until Prometheus knows each figure; the message of a failure shows those that it knows instead. */
  async function comesToKnow(figures: Readonly<Record<string, number>>): Promise<void> {
    let known: Record<string, number | undefined> = {};
    await eventually('Prometheus knows the figures', async () => {
      const asked = Object.keys(figures).map(async (of) => [of, await prometheus.ask(of)] as const);
      known = Object.fromEntries(await Promise.all(asked));
      return JSON.stringify(known) === JSON.stringify(figures);
    }).catch(() => undefined);
    expect(known).toEqual(figures);
  }

  test('finds every service, and knows what they did', async () => {
    const message = { recipient: 'writer', body: 'Begin.' };
    expect(await stack.api('POST', '/projects', { file: projectFile, start: true, message })).toMatchObject({
      status: 201,
    });
    expect(
      (await stack.api('POST', `/projects/${project}/messages`, { recipient: 'sleeper', body: 'Rest.' })).status,
    ).toBe(201);
    expect((await fetch(`${stack.url}/api/projects`)).status).toBe(401);
    const token = readFileSync(`${stack.root}/admin.token`, 'utf8').trim();
    const events = await fetch(`${stack.url}/api/projects/${project}/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
    });

    await comesToKnow({
      'sum(up{job=~"api|scheduler|toolhost|turn-worker"})': 4,
      'sum(suzumio_mail_accepted_total{sender="user"})': 2,
      'sum(suzumio_mail_accepted_total{sender="agent"})': 1,
      'sum(suzumio_turns_ended_total{outcome="completed"})': 2,
      'sum(suzumio_claims_total{outcome="granted"})': 3,
      'sum(suzumio_turn_jobs_total{outcome="delivered"})': 3,
      'sum(suzumio_turn_jobs_taken_total{outcome="claimed"})': 3,
      'sum(suzumio_tool_calls_total{tool="messages.send",outcome="ok"})': 1,
      'sum(suzumio_turn_stage_duration_seconds_count{stage="scheduled"})': 3,
      'sum(suzumio_turn_stage_duration_seconds_count{stage="ran"})': 2,
      'sum(suzumio_turn_stage_duration_seconds_count{stage="total"})': 2,
      'max(suzumio_turns_queued)': 0,
      'max(suzumio_turns_running)': 1,
      'max(suzumio_turn_jobs_waiting)': 0,
      'sum(suzumio_attempts_running)': 1,
      'sum(suzumio_worker_ready)': 1,
      'sum(suzumio_leases_expired_total)': 0,
      'sum(suzumio_sse_clients)': 1,
      'sum(suzumio_requests_refused_total{code="unauthenticated"})': 1,
      'count(suzumio_store_transaction_duration_seconds_count{outcome="committed"})': 3,
      'count(suzumio_sweep_duration_seconds_count{round=~"sweep|leases"})': 2,
      'count(process_resident_memory_bytes)': 4,
    });

    await events.body?.cancel();
    expect((await stack.api('POST', `/projects/${project}/stop`, { now: true })).status).toBe(200);
    await comesToKnow({
      'sum(suzumio_turns_ended_total{outcome="cancelled",code="none"})': 1,
      'sum(suzumio_attempts_stopped_total{reason="cancelled"})': 1,
      'sum(suzumio_turn_stage_duration_seconds_count{stage="total"})': 3,
      'max(suzumio_turns_running)': 0,
      'sum(suzumio_attempts_running)': 0,
      'sum(suzumio_sse_clients)': 0,
    });
  });

  test.each(['api', 'scheduler', 'toolhost', 'turn-worker'] as const)(
    '%s shows what promtool finds nothing wrong with, and what is documented of it',
    async (service) => {
      const [{ healthUrl } = { healthUrl: '' }] = stack.services[service];
      const shown = await (await fetch(`${healthUrl}/metrics`)).text();
      expect(await promtoolCheck('metrics', shown)).toBe('');
      const families = new Set(
        [...shown.matchAll(/^(suzumio_\w+?)(?:_bucket|_sum|_count)?\{/gm)].map(([, name]) => name),
      );
      expect(families.size).toBeGreaterThan(0);
      expect([...families].filter((name) => !documented(name ?? '').includes(service))).toEqual([]);
    },
  );

  test('answers each query of the dashboard', async () => {
    const queries = dashboardQueries();
    expect(queries.length).toBeGreaterThan(20);
    // A query that names what no service shows is answered with nothing, too; a unit test knows the names.
    for (const query of queries) await prometheus.ask(query);
  });

  test('fires and keeps silent as the cases of each alert say', async () => {
    expect(await promtool(['test', 'rules', alertCases])).toBe('');
  });

  test('the configuration that comes with Suzumio is valid', async () => {
    expect(await promtoolCheck('config', configFile)).toBe('');
  });
});

/** The configuration that comes with Suzumio, for processes on this machine and for figures that are wanted soon. */
function configuration(stack: Stack): string {
  const targets = (job: string) =>
    stack.services[job as keyof Stack['services']].map(({ healthUrl }) => `'${new URL(healthUrl).host}'`).join(', ');
  return readFileSync(configFile, 'utf8')
    .replace('scrape_interval: 15s', 'scrape_interval: 1s')
    .replace('rule_files: [alerts.yml]', `rule_files: ['${alertFile}']`)
    .replace(
      /dns_sd_configs: .*names: \[(.+?)\].*/g,
      (_all, job: string) => `static_configs: [{ targets: [${targets(job)}] }]`,
    );
}

/** The services that are said to show a metric. */
function documented(metric: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${metric}\` `));
  return (row?.split('|')[4] ?? '').split(',').map((service) => service.trim());
}
