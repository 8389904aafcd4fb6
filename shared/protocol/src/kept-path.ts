/** What a sandbox keeps for itself in a workspace. */
export const keptDirectory = '.suzumio';

const kept: readonly string[] = ['.git', keptDirectory];

/**
 * The first part of a path that Git or the sandbox keeps for itself, however it is capitalised: what another agent wrote
 * must not come to lie in one, where it would be run (hooks, configuration) or taken for the sandbox's own.
 */
export function keptPartOf(path: string): string | undefined {
  return path.split('/').find((part) => kept.includes(part.toLowerCase()));
}
