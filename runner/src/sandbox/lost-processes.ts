import type { StepResult } from '@suzumio/protocol/sandbox-steps';

/**
 * Background commands that an earlier attempt has started. They ended with it; the model, which believes that they run, is told
 * so with the next result.
 */
export class LostProcesses {
  readonly #handles = new Set<string>();

  /** Notes the result of a step that is not taken again. */
  note(tool: string, result: StepResult): void {
    const { handle, running } = 'error' in result ? {} : (result.metadata ?? {});
    if (typeof handle !== 'string') return;
    if (tool === 'shell.exec') this.#handles.add(handle);
    else if (running !== true) this.#handles.delete(handle);
  }

  /** The result of the first step that is taken, with what there is to tell. */
  told(result: StepResult): StepResult {
    if (this.#handles.size === 0) return result;
    const handles = [...this.#handles].join(', ');
    this.#handles.clear();
    const note = `[The turn was interrupted before this step, and has gone on with its files. What ran in the background has ended: ${handles}. Start it anew if you need it.]`;
    if (!('error' in result)) return { ...result, output: `${result.output}\n${note}` };
    return { error: { ...result.error, message: `${result.error.message} ${note}` } };
  }
}
