import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { createMetrics } from '@suzumio/runtime/observability/metrics';
import { dashboardQueries } from './support/dashboard.js';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: { runbook: string } }[] }[];
}
interface Cases {
  tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
}

const rules = (parse(read('deploy/prometheus/alerts.yml')) as Rules).groups.flatMap((group) => group.rules);

test('each alert has a case in which it fires, one in which it does not, and a section in docs/operations.md', () => {
  const cases = (parse(read('deploy/prometheus/alerts.test.yml')) as Cases).tests.flatMap((one) => one.alert_rule_test);
  const sections = new Set([...read('docs/operations.md').matchAll(/^### (.+)$/gm)].map(([, title]) => title));
  expect(rules.length).toBeGreaterThan(10);
  for (const { alert, annotations } of rules) {
    const own = cases.filter(({ alertname }) => alertname === alert).map(({ exp_alerts }) => exp_alerts.length > 0);
    expect([alert, own.sort()]).toEqual([alert, [false, true]]);
    expect([alert, sections.has(alert)]).toEqual([alert, true]);
    expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
  }
});

test('alerts and dashboard ask for metrics that are there', async () => {
  const known = (await createMetrics('suzumio').registry.getMetricsAsJSON()).map(({ name }) => name);
  const asked = [...rules.map(({ expr }) => expr), ...dashboardQueries()].flatMap((query) =>
    [...query.matchAll(/\b(?:suzumio|process|nodejs)_\w+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, '')),
  );
  expect(asked.length).toBeGreaterThan(40);
  expect(asked.filter((name) => !known.includes(name))).toEqual([]);
});
