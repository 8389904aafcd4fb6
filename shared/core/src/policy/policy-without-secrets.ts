import { hiddenValue } from '../config/agent-env.js';
import type { Policy } from './policy.js';

/**
 * A policy as it is shown over the network: without users, passwords and queries of addresses, and without the arguments
 * of command lines. Any of them may hold a key.
 */
export function policyWithoutSecrets(policy: Policy): Policy {
  const { toolpacks, providers, git } = policy;
  return {
    ...policy,
    git: git.map(plainAddress),
    providers: providers.map(({ baseURL, ...provider }) => ({
      ...(baseURL === undefined ? {} : { baseURL: plainAddress(baseURL) }),
      ...provider,
    })),
    toolpacks: {
      ...toolpacks,
      mcpCommands: toolpacks.mcpCommands.map(([program = '', ...args]) => [program, ...args.map(() => hiddenValue)]),
      mcpUrls: toolpacks.mcpUrls.map(plainAddress),
    },
  };
}

/** An address, or a pattern of some. */
function plainAddress(address: string): string {
  return address
    .replace(/:\/\/[^/?#\\]*@/g, `://${hiddenValue}@`)
    .replace(/([?#]).+$/s, (_rest, mark: string) => `${mark}${hiddenValue}`);
}
