import { setImmediate as breathe } from 'node:timers/promises';
import type { Response } from 'express';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import { recordedBytes } from '@suzumio/store/journal';
import type { PresentedToken } from './auth.js';
import type { CallBody } from './bodies/call.js';
import type { ToolhostContext } from './context.js';

const longBytes = 65_536;

/**
 * Answers calls. Of the long answers one is made at a time, projects in turn, and other requests are answered between two: each may
 * be megabytes of JSON, which are read from the journal and written out on this loop, as often as a runner repeats its call.
 */
export class LongAnswers {
  readonly #turns = new ProjectTurns();

  constructor(private readonly context: Pick<ToolhostContext, 'cell'>) {}

  /** @throws what `answer` throws */
  async send(response: Response, token: PresentedToken, call: CallBody, answer: () => Promise<void>): Promise<void> {
    if (!(await this.#mayBeLong(token, call))) {
      await answer();
      return;
    }
    await this.#turns.take(token.project, async () => {
      if (response.destroyed) return;
      await answer();
      await breathe();
    });
  }

  async #mayBeLong({ project, turn }: PresentedToken, { step, tool }: CallBody): Promise<boolean> {
    if (tool === 'artifacts.read') return true;
    if (step === undefined) return false;
    return this.context.cell.stores.use(project, ({ reader }) =>
      Promise.resolve(recordedBytes(reader, turn, step) > longBytes),
    );
  }
}
