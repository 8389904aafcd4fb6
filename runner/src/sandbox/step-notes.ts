import type { StepResult } from '@suzumio/protocol/sandbox-steps';

/**
 * What the model is told besides, with the result of the next step that is taken: what its worker has to say, and which commands
 * of an earlier attempt, that it believes to run in the background, ended with that.
 */
export class StepNotes {
  readonly #lost = new Set<string>();

  constructor(private told: readonly string[] = []) {}

  /** Notes the result of a step that is not taken again. */
  note(tool: string, result: StepResult): void {
    const { handle, running } = 'error' in result ? {} : (result.metadata ?? {});
    if (typeof handle !== 'string') return;
    if (tool === 'shell.exec') this.#lost.add(handle);
    else if (running !== true) this.#lost.delete(handle);
  }

  /** The result of a step that was taken, with what there is to tell. */
  addedTo(result: StepResult): StepResult {
    const notes = [...this.told, ...this.#ended()];
    if (notes.length === 0) return result;
    this.told = [];
    this.#lost.clear();
    const text = notes.map((note) => `[${note}]`).join('\n');
    if (!('error' in result)) return { ...result, output: `${result.output}\n${text}` };
    return { error: { ...result.error, message: `${result.error.message} ${text}` } };
  }

  #ended(): string[] {
    if (this.#lost.size === 0) return [];
    const handles = [...this.#lost].join(', ');
    return [
      `The turn was interrupted before this step, and has gone on with its files. What ran in the background has ended: ${handles}. Start it anew if you need it.`,
    ];
  }
}
