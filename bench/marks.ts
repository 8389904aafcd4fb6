import { openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What was seen of a message on its way to a claim. */
export type Stage =
  | 'wake sent'
  | 'wake handled'
  | 'turn queued'
  | 'job delivered'
  | 'claim received'
  | 'events committed'
  | 'claim answered'
  | `heartbeat ${number}`;

export interface Mark {
  stage: Stage;
  atMs: number;
}

/** A clock that all processes of one machine share. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Notes marks in a file of this process's own, a line each. */
export function openMarks(directory: string): (stage: Stage) => void {
  const file = openSync(join(directory, `${process.pid}.marks`), 'a');
  return (stage) => writeSync(file, `${clockMs()} ${stage}\n`);
}

/** How long the heartbeats took that ended between two moments of the shared clock, in milliseconds. */
export function heartbeatsBetween(directory: string, fromMs: number, untilMs: number): number[] {
  return readMarks(directory)
    .filter(({ stage, atMs }) => stage.startsWith('heartbeat ') && atMs >= fromMs && atMs <= untilMs)
    .map(({ stage }) => Number(stage.slice('heartbeat '.length)));
}

/** The marks of all processes, in the order of time. */
export function readMarks(directory: string): Mark[] {
  return readdirSync(directory)
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .filter((line) => line !== '')
    .map((line) => {
      const space = line.indexOf(' ');
      return { atMs: Number(line.slice(0, space)), stage: line.slice(space + 1) as Stage };
    })
    .sort((a, b) => a.atMs - b.atMs);
}
