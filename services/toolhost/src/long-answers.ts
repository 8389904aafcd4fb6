import { setImmediate as breathe } from 'node:timers/promises';
import type { Response } from 'express';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import type { Cell } from '@suzumio/store/cell/cell';
import { recordedBytes } from '@suzumio/store/journal';

const longBytes = 65_536;

/** Tools whose answers may be long when they are made. */
const longTools: ReadonlySet<string | undefined> = new Set(['artifacts.read', 'messages.read']);

/** What is asked: a tool's call, or a model's. */
interface Asked {
  step?: string | undefined;
  tool?: string;
}

/** Who asks. */
interface Attempt {
  project: string;
  turn: string;
  attempt: number;
}

/**
 * Answers calls of tools and of models. Of the long answers one is made at a time, projects in turn, and other requests are answered
 * between two: each may be megabytes of JSON, which are read from the journal and written out on this loop, as often as a runner
 * repeats its call. An attempt is given the next one when it has read the one before: what it does not read stays in this memory.
 */
export class LongAnswers {
  readonly #turns = new ProjectTurns();
  /** By attempt: settled once nothing is left that it has not read. */
  readonly #unread = new Map<string, Promise<void>>();

  constructor(private readonly cell: Pick<Cell, 'stores'>) {}

  /** @throws what `answer` throws */
  async send(response: Response, asking: Attempt, asked: Asked, answer: () => Promise<void>): Promise<void> {
    if (!(await this.#mayBeLong(asking, asked))) {
      await answer();
      return;
    }
    await this.#readBefore(response, asking);
    await this.#turns.take(asking.project, async () => {
      if (response.destroyed) return;
      await answer();
      await breathe();
    });
  }

  /** Waits until the attempt has read, or left, the long answers that it was given before. */
  async #readBefore(response: Response, { project, turn, attempt }: Attempt): Promise<void> {
    if (response.destroyed) return;
    const reader = JSON.stringify([project, turn, attempt]);
    const before = this.#unread.get(reader);
    const left = new Promise((resolve) => response.once('close', resolve));
    const read = Promise.all([before, left]).then(() => {
      if (this.#unread.get(reader) === read) this.#unread.delete(reader);
    });
    this.#unread.set(reader, read);
    await before;
  }

  async #mayBeLong({ project, turn }: Attempt, { step, tool }: Asked): Promise<boolean> {
    if (longTools.has(tool)) return true;
    if (step === undefined) return false;
    return this.cell.stores.use(project, ({ reader }) =>
      Promise.resolve(recordedBytes(reader, turn, step) > longBytes),
    );
  }
}
