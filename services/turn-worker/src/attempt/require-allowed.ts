import { sandboxDenials, type SandboxRequest } from '@suzumio/core/policy/check-sandbox';
import { describeDenial } from '@suzumio/core/policy/denial';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { AttemptFailure } from '../engine/attempt-failure.js';

/**
 * Holds what a claim asks of this host against the worker's own policy, whatever the ToolHost has made of it.
 *
 * @returns what may be mounted, with links followed, as it was checked
 * @throws AttemptFailure `policy-denied` with each field and rule
 */
export function requireAllowed(policy: Policy, claim: SandboxRequest, host: HostPaths): SandboxLimits['mounts'] {
  const denials = sandboxDenials(policy, claim, host);
  if (denials.length > 0) {
    throw new AttemptFailure(
      'policy-denied',
      `This worker's policy does not allow what the turn asks for: ${denials.map(describeDenial).join('; ')}.`,
    );
  }
  return claim.sandbox.mounts.map((mount) => ({ ...mount, source: host.lookUp(mount.source)?.real ?? mount.source }));
}
