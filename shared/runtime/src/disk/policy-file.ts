import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The policy file of a data directory: the named one, else its own; undefined where it has none. */
export function policyFileOf(root: string, named: string | undefined): string | undefined {
  const own = join(root, 'policy.yaml');
  return named ?? (existsSync(own) ? own : undefined);
}
