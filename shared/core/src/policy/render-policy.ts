import { stringify } from 'yaml';
import type { Policy } from './policy.js';

/** A policy as a `policy.yaml` that says the same, with every default written out. */
export function renderPolicy(policy: Policy): string {
  return stringify(policy, { lineWidth: 0 });
}
