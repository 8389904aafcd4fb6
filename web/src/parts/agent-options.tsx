import type { Agent } from '@suzumio/sdk/client';
import { nameOf } from './states.js';
import { visible } from './visible.js';

/** A browser is slow to open a choice of more. */
const most = 500;

/** The agents of a project to choose from, in a `select`. */
export function AgentOptions({ agents }: { agents: readonly Agent[] }) {
  return agents.slice(0, most).map((one) => (
    <option key={one.id} value={one.id}>
      {visible(nameOf(one))}
    </option>
  ));
}
