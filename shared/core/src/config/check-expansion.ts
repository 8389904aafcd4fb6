import type { FileConfig } from '@suzumio/contract/model/project-config';
import { childOf, type ConfigNode } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import { configLimits } from './limits.js';

/**
 * Refuses a small file that expands to a large project: counted agents, each with everything in its entry, in many
 * channels.
 */
export function refuseExpansion(root: ConfigNode, config: FileConfig, problems: ProblemList): void {
  const { agentsBytes, members } = configLimits;
  const refuse = (section: string, message: string): void =>
    problems.add('too-large', (childOf(root, section) ?? root).place, message);
  const sizes = new Map<string, number>();
  const sizeOf = (agent: FileConfig['agents'][string]): number => {
    const size = sizes.get(agent.base) ?? JSON.stringify(agent).length;
    sizes.set(agent.base, size);
    return size;
  };
  if (sum(Object.values(config.agents).map(sizeOf)) > agentsBytes) {
    refuse('agents', `agents: more than ${agentsBytes} bytes, counted agents one by one`);
  }
  if (sum(config.channels.map((channel) => channel.members.length)) > members) {
    refuse('channels', `channels: more than ${members} members, counted agents one by one`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
