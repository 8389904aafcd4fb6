import type { Conditions } from './conditions.js';
import type { Row } from './rows.js';
import { figure, table } from './statistics.js';

/** What a run is written down as. */
export interface Results {
  quick: boolean;
  conditions: Conditions;
  /** Shares of the machine's time during the run: used by any program, and taken by its hypervisor. */
  machine?: { busy: number; steal: number };
  rows: Row[];
  /** The parts that could not be measured. */
  failed: { part: string; error: string }[];
}

/** The results for people. */
export function report({ rows, failed, ...of }: Results): string {
  return [conditionsText(of), rowsText(rows), ...failed.map(({ part, error }) => `FAILED: ${part}: ${error}`)].join(
    '\n\n',
  );
}

function conditionsText({ quick, conditions, machine }: Omit<Results, 'rows' | 'failed'>): string {
  const { commit, changed, cpu, cores, memoryBytes, kernel, node, redis, docker, loadBefore } = conditions;
  const rows = [
    ['commit', `${commit.slice(0, 12)}${changed ? ', with changes' : ''}${quick ? ', quick run' : ''}`],
    ['machine', `${cpu}, ${cores} cores, ${(memoryBytes / 1024 ** 3).toFixed(0)} GiB, Linux ${kernel}`],
    ['software', `Node ${node}, Redis ${redis}, Docker ${docker}`],
    ['load before', figure(loadBefore)],
    ...(machine ? [['during the run', `${percent(machine.busy)} busy, ${percent(machine.steal)} stolen`]] : []),
  ];
  return rows.map(([name = '', value = '']) => `${name.padEnd(16)}${value}`).join('\n');
}

function rowsText(rows: readonly Row[]): string {
  return table([
    ['', 'p50', 'p90', 'p99', 'floor', 'floors', 'target', ''],
    ...rows.map(({ name, value, unit, floor, ratio, target, met, spread }) => [
      `${name}, ${unit}`,
      figure(value),
      ...(spread.samples > 1 ? [figure(spread.p90), figure(spread.p99)] : ['', '']),
      ...[floor, ratio, target].map((number) => (number === null ? '' : figure(number))),
      met === null ? '' : met ? 'met' : 'MISSED',
    ]),
  ]);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
