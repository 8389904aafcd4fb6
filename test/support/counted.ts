import type { Metrics } from '@suzumio/runtime/observability/metrics';

/** The sum of those series of a metric that have these labels; `le: '+Inf'` gives how often a histogram was told. */
export async function counted(metrics: Metrics, name: string, labels: Record<string, string> = {}): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  const series = metric?.values.filter((value) =>
    Object.entries(labels).every(([label, wanted]) => value.labels[label] === wanted),
  );
  return (series ?? []).reduce((sum, { value }) => sum + value, 0);
}
