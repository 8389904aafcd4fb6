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

const plain = (cell: string) => cell.replaceAll('`', '');

/** The client library's types hide them. */
function labelsOf(metric: unknown): string {
  return (metric as { labelNames: string[] }).labelNames.filter((label) => label !== 'le').join(', ');
}
