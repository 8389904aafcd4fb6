import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The values that each label may have. Others are counted as `other`, so that no caller can add series. */
export type LabelValues = Readonly<Record<string, readonly string[]>>;
type Labels<L extends LabelValues> = { readonly [K in keyof L]: string };

export interface BoundedCounter<L extends LabelValues> {
  inc(labels: Labels<L>, by?: number): void;
}

export interface BoundedHistogram<L extends LabelValues> {
  /** Records a duration; the series is in seconds, as Prometheus wants it. */
  observeMs(labels: Labels<L>, durationMs: number): void;
}

interface Definition<L extends LabelValues> {
  /** With prefix, and unit or `_total`. */
  name: `suzumio_${string}`;
  help: string;
  labels: L;
}

function bound<L extends LabelValues>(allowed: L, labels: Labels<L>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(allowed).map(([name, values]) => {
      const value = labels[name] ?? 'other';
      return [name, values.includes(value) ? value : 'other'];
    }),
  );
}

/** A counter. Like the others it appears with its first value; count zero to show a zero. */
export function defineCounter<L extends LabelValues>(registry: Registry, definition: Definition<L>): BoundedCounter<L> {
  const { name, help, labels } = definition;
  const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers: [registry] });
  if (Object.keys(labels).length === 0) counter.remove();
  return { inc: (values, by = 1) => counter.inc(bound(labels, values), by) };
}

/** A histogram of durations. */
export function defineHistogram<L extends LabelValues>(
  registry: Registry,
  definition: Definition<L> & { bucketsMs: readonly number[] },
): BoundedHistogram<L> {
  const { name, help, labels } = definition;
  const buckets = definition.bucketsMs.map((ms) => ms / 1000);
  const histogram = new Histogram({ name, help, labelNames: Object.keys(labels), buckets, registers: [registry] });
  if (Object.keys(labels).length === 0) histogram.remove();
  return { observeMs: (values, durationMs) => histogram.observe(bound(labels, values), durationMs / 1000) };
}

/** A gauge. It does not appear before its first value: only a process that knows the value sets it. */
export function defineGauge(registry: Registry, definition: { name: `suzumio_${string}`; help: string }): Gauge {
  const gauge = new Gauge({ ...definition, registers: [registry] });
  gauge.remove();
  return gauge;
}

/** A gauge with labels. */
export function defineLabelledGauge<L extends LabelValues>(
  registry: Registry,
  definition: Definition<L>,
): { set(labels: Labels<L>, value: number): void } {
  const { name, help, labels } = definition;
  const gauge = new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] });
  return { set: (values, value) => gauge.set(bound(labels, values), value) };
}
