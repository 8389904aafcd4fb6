import { policyFileOf } from '@suzumio/runtime/disk/policy-file';
import type { Session } from './session.js';

/** The file with this data directory's policy; undefined where it has none. */
export function policyFile({ root, context }: Session): string | undefined {
  const named = context.env.SUZUMIO_POLICY_FILE;
  return policyFileOf(root, named === '' ? undefined : named);
}
