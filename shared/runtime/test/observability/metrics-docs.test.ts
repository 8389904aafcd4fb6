import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createMetrics } from '@suzumio/runtime/observability/metrics';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8');

test('docs/metrics.md has a row for each metric, with its type, its labels and its help', async () => {
  const { registry } = createMetrics('test');
  const catalogue = (await registry.getMetricsAsJSON())
    .filter(({ name }) => name.startsWith('suzumio_'))
    .map(({ name, type, help }) => ({
      name,
      type: String(type),
      labels: labelsOf(registry.getSingleMetric(name)),
      help,
    }));
  const rows = page.split('\n').filter((line) => line.startsWith('| `suzumio_'));
  const documented = rows.map((row) => {
    const [name = '', type = '', labels = '', , help = ''] = row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return { name: plain(name), type, labels: plain(labels), help };
  });
  expect(documented).toEqual(catalogue);
});

test.each(['api', 'scheduler', 'toolhost', 'turn-worker'])(
  '%s begins its own counters and histograms at zero, and no others',
  async (service) => {
    const shown = await createMetrics(service).registry.metrics();
    const families = new Set(
      [...shown.matchAll(/^(suzumio_\w+?)(?:_bucket|_sum|_count)?\{/gm)].map(([, name]) => name),
    );
    const own = page.split('\n').flatMap((line) => {
      const [, name = '', type = '', , of = ''] = line.split('|').map((cell) => cell.trim());
      return type !== 'gauge' && of.split(', ').includes(service) ? [plain(name)] : [];
    });
    expect(own.length).toBeGreaterThan(3);
    expect([...families].sort()).toEqual(own.sort());
  },
);

const plain = (cell: string) => cell.replaceAll('`', '');

/** The client library's types hide them. */
function labelsOf(metric: unknown): string {
  return (metric as { labelNames: string[] }).labelNames.filter((label) => label !== 'le').join(', ');
}
