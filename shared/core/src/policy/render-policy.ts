import { stringify } from 'yaml';

/** A policy, of this version or of another server's, as an equivalent `policy.yaml`, with every default written out. */
export function renderPolicy(policy: object): string {
  return stringify(policy, { lineWidth: 0 });
}
