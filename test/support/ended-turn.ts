import { eventually } from './poll.js';
import type { Stack } from './stack.js';

/** A turn that has completed, as the API shows it: what it said, and all of it as JSON. */
export interface EndedTurn {
  readonly text: string;
  readonly json: string;
}

/**
 * Waits until a turn has ended.
 *
 * @param turn its agent and number, as in `dev:1`
 * @throws Error with all of it where it has failed
 */
export async function endedTurn(stack: Stack, project: string, turn: string): Promise<EndedTurn> {
  let shown: { status: string; text: string | null } | undefined;
  await eventually(
    `turn ${turn} of ${project} ends`,
    async () => {
      shown = (await stack.api('GET', `/projects/${project}/turns/${turn}`)).body as typeof shown;
      return ['completed', 'failed'].includes(shown?.status ?? '');
    },
    { show: () => stack.logs().slice(-3_000) },
  );
  const json = JSON.stringify(shown);
  if (shown?.status !== 'completed') throw new Error(json);
  return { text: shown.text ?? '', json };
}
