import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/poll.js';

/** What Node gets so that a process tells of itself. */
export const vitalsArguments = ['--import', fileURLToPath(new URL('tell-vitals.mjs', import.meta.url))];

/** A process that was started with {@link vitalsArguments}. */
export interface Patient {
  readonly name: string;
  readonly pid: number | undefined;
  readonly running: boolean;
}

interface Vitals {
  number: number;
  heapUsed: number;
  external: number;
  resources: string[];
  files: number;
}

const growthBytes = 24 * 1024 * 1024;
/** Connections that served many at a time are kept for a while. What is lost with each case is soon more than that. */
const moreHandles = 40;

/**
 * Watches that processes do not grow: `check` looks at them, and fails where one holds more than at the first look than
 * chance explains.
 */
export class Watch {
  readonly #first = new Map<string, Vitals>();

  constructor(
    private readonly directory: string,
    private readonly patients: readonly Patient[],
  ) {}

  async check(): Promise<void> {
    for (const patient of this.patients) {
      const { name } = patient;
      const now = await this.#examine(patient);
      const before = this.#first.get(name);
      this.#first.set(name, before ?? now);
      if (!before) continue;
      const grown = now.heapUsed + now.external - before.heapUsed - before.external;
      if (grown > growthBytes) throw new Error(`${name} holds ${String(grown)} bytes more than at first`);
      const opened = now.files - before.files;
      if (opened > moreHandles) throw new Error(`${name} holds ${String(opened)} open files more than at first`);
      const resources = now.resources.length - before.resources.length;
      if (resources > moreHandles) {
        throw new Error(`${name} has ${String(resources)} resources more than at first: ${now.resources.join(', ')}`);
      }
    }
  }

  async #examine({ name, pid, running }: Patient): Promise<Vitals> {
    if (!running || pid === undefined) throw new Error(`${name} has ended`);
    const file = join(this.directory, `${String(pid)}.json`);
    const read = async (): Promise<Omit<Vitals, 'files'> | undefined> => {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as Omit<Vitals, 'files'>);
    };
    const last = (await read())?.number ?? 0;
    process.kill(pid, 'SIGWINCH');
    let vitals: Omit<Vitals, 'files'> | undefined;
    await eventually(`${name} tells of itself`, async () => {
      vitals = await read();
      return (vitals?.number ?? 0) > last;
    });
    if (!vitals) throw new Error(`${name} told nothing`);
    return { ...vitals, files: (await readdir(`/proc/${String(pid)}/fd`)).length };
  }
}
