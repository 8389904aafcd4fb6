import { sandboxDenials, type SandboxRequest } from '@suzumio/core/policy/check-sandbox';
import { describeDenial } from '@suzumio/core/policy/denial';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import type { AttemptRef, ClaimAnswer, SandboxLimits } from '@suzumio/protocol/attempts';
import type { PortRange, WorkerLimits } from '../config.js';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { TurnEngine } from '../engine/turn-engine.js';
import type { Repositories } from '../git/repositories.js';
import type { Workspaces } from '../workspace/workspaces.js';
import type { WorkerPaths } from './turn-directory.js';
import type { WorkerDisk } from './worker-disk.js';

/** A worker's engines, by backend. */
export type Engines = Partial<Record<ClaimAnswer['backend'], TurnEngine>>;

/** This host's policy for a project. */
export type PolicyOf = (of: Pick<AttemptRef, 'cell' | 'project'>) => Policy;

/** This host, as attempts use it. */
export interface Host {
  engines: Engines;
  workspaces: Workspaces;
  repositories: Repositories;
  disk: WorkerDisk;
  paths: WorkerPaths;
  limits: WorkerLimits;
  /** Ports for relays. */
  relayPorts: PortRange | undefined;
  policyOf: PolicyOf;
  /** The present file system for checking mounts. */
  mountable: () => HostPaths;
}

type Mounts = SandboxLimits['mounts'];

/**
 * Checks a claim's request against the worker's own policy, whatever the ToolHost has allowed.
 *
 * @returns the mounts, with links resolved, as they were checked
 * @throws AttemptFailure `policy-denied` with each field and rule
 */
export function requireAllowed(
  { policyOf, mountable }: Pick<Host, 'policyOf' | 'mountable'>,
  of: Pick<AttemptRef, 'cell' | 'project'>,
  claim: SandboxRequest,
): Mounts {
  const paths = mountable();
  const denials = sandboxDenials(policyOf(of), claim, paths);
  if (denials.length > 0) {
    throw new AttemptFailure(
      'policy-denied',
      `This worker's policy does not allow what the turn asks for: ${denials.map(describeDenial).join('; ')}.`,
    );
  }
  return claim.sandbox.mounts.map((mount) => ({ ...mount, source: paths.lookUp(mount.source)?.real ?? mount.source }));
}

/**
 * Checks again that the mounts' sources are the same.
 *
 * @throws AttemptFailure
 */
export function requireUnmoved(host: Host, ref: AttemptRef, claim: ClaimAnswer, checked: Mounts): void {
  const now = requireAllowed(host, ref, claim);
  const moved = checked.find(({ source }, i) => source !== now[i]?.source);
  if (moved === undefined) return;
  throw new AttemptFailure('container-start-failed', `${moved.source} was moved while it was about to be mounted.`);
}
