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

export interface BoundedGauge<L extends LabelValues> {
  set(labels: Labels<L>, value: number): void;
  /** Removes all of its series, while their values are not known. */
  remove(): void;
}

/** The services, each of which shows the metrics of its own work. */
const services = ['api', 'scheduler', 'toolhost', 'turn-worker'] as const;

interface Naming {
  /** With prefix, and unit or `_total`. */
  name: `suzumio_${string}`;
  help: string;
  /** The services that show it. */
  of: readonly (typeof services)[number][];
}

interface Definition<L extends LabelValues> extends Naming {
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

/** Every combination of values. */
function combinations(labels: LabelValues): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (before, [name, values]) => before.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}

/**
 * Defines the metrics of one process.
 *
 * Counters and histograms begin at zero in the services that show them, so that `increase` sees the first event. Gauges
 * appear with their first value: only a process that knows it sets it.
 *
 * @param service the process's; a process with another name does the work of all services
 */
export function createInstruments(registry: Registry, service: string) {
  const shows = ({ of }: Naming) => of.some((one) => one === service) || !services.some((one) => one === service);
  return {
    /** @param definition.atZero the series that begin at zero @default every combination of values */
    counter<L extends LabelValues>(definition: Definition<L> & { atZero?: readonly Labels<L>[] }): BoundedCounter<L> {
      const { name, help, labels } = definition;
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers: [registry] });
      if (Object.keys(labels).length === 0) counter.remove();
      if (shows(definition)) for (const one of definition.atZero ?? combinations(labels)) counter.inc(one, 0);
      return { inc: (values, by = 1) => counter.inc(bound(labels, values), by) };
    },

    /** A histogram of durations. */
    histogram<L extends LabelValues>(
      definition: Definition<L> & { bucketsMs: readonly number[] },
    ): BoundedHistogram<L> {
      const { name, help, labels } = definition;
      const buckets = definition.bucketsMs.map((ms) => ms / 1000);
      const histogram = new Histogram({ name, help, labelNames: Object.keys(labels), buckets, registers: [registry] });
      if (Object.keys(labels).length === 0) histogram.remove();
      if (shows(definition)) for (const one of combinations(labels)) histogram.zero(one);
      return { observeMs: (values, durationMs) => histogram.observe(bound(labels, values), durationMs / 1000) };
    },

    gauge({ name, help }: Naming): Gauge {
      const gauge = new Gauge({ name, help, registers: [registry] });
      gauge.remove();
      return gauge;
    },

    labelledGauge<L extends LabelValues>({ name, help, labels }: Definition<L>): BoundedGauge<L> {
      const gauge = new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] });
      return { set: (values, value) => gauge.set(bound(labels, values), value), remove: () => gauge.reset() };
    },
  };
}
