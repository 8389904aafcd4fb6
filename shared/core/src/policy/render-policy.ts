import { stringify } from 'yaml';
import type { Policy } from './policy.js';

/** A policy as an equivalent `policy.yaml`, with every default written out. */
export function renderPolicy(policy: Policy): string {
  return stringify(policy, { lineWidth: 0 });
}
