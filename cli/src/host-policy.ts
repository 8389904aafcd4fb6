import { type PolicyCheckOptions, projectDenials, refuseByPolicy } from '@suzumio/core/policy/check-project';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { directoryOf, type Grant, grantFor, withGrant } from '@suzumio/core/policy/grant';
import { policyWithGrants, writableByGrants } from '@suzumio/store/cell/grants';
import type { NewProject } from '@suzumio/store/cell/create-project';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import { allowProviders, providersBeyond } from './providers/allow-providers.js';
import { describePair, type ProviderPair } from './providers/provider-pair.js';
import { allowToolpacks, toolpacksBeyond } from './toolpacks/allow-toolpacks.js';
import { dayBudgetOf } from './day-budget.js';
import { policyFile } from './policy-file.js';
import type { Session } from './session.js';

/** Lets projects run turns as processes for as long as a command runs, even against the policy. */
export interface PolicyOptions {
  readonly allowProcess?: boolean;
}

/** What is allowed to a file of this person's own. */
export interface OwnFileOptions extends PolicyOptions {
  readonly allowProvider?: readonly ProviderPair[];
  /** Directories of toolpacks. */
  readonly allowToolpack?: readonly string[];
}

/** The options by which a person allows a file of theirs more than the policy does. */
export function overrulingOptions({
  allowProcess = false,
  allowProvider = [],
  allowToolpack = [],
}: OwnFileOptions): string[] {
  return [
    ...(allowProcess ? ['--allow-process'] : []),
    ...(allowProvider.length > 0 ? ['--allow-provider'] : []),
    ...(allowToolpack.length > 0 ? ['--allow-toolpack'] : []),
  ];
}

/**
 * What projects may ask of this machine.
 *
 * @throws {ConfigErrors} where the policy is written wrongly
 */
export function hostPolicy(session: Session, { allowProcess = false }: PolicyOptions = {}): Policy {
  const policy = loadPolicy(policyFile(session));
  const backends = new Set(policy.backends);
  if (allowProcess) backends.add('process');
  return { ...policy, backends: [...backends] };
}

/** How a project of this person's own disk is let in. */
export interface Admission {
  /** What projects may ask of this machine. */
  readonly policy: Policy;
  /** Those of its providers that may be used beyond the policy. */
  readonly providers: readonly ProviderPair[];
  /** The directories of its toolpacks that may be loaded beyond the policy. */
  readonly toolpacks: readonly string[];
}

/**
 * Finds out what a file of this person's own disk may use. One whose project is there already keeps what that was
 * allowed when it was made.
 *
 * @param options what the command allows, besides what the person agrees to
 * @throws {ConfigErrors} `policy-denied` without a terminal to ask at
 */
export async function admission(
  session: Session,
  source: ProjectSource,
  { allowProvider = [], allowToolpack = [], ...options }: OwnFileOptions,
): Promise<Admission> {
  // What is refused anyway is refused without a question.
  const policy = requireAllowable(session, source, options);
  return {
    policy,
    toolpacks: await allowToolpacks(session, source, { policy, host: hostOf(session), agreed: allowToolpack }),
    providers: await allowProviders(session, source, policy, allowProvider),
  };
}

/** What a file of this person's own disk is granted for its toolpacks alone, so that they can be read. */
export async function toolpackGrant(
  session: Session,
  source: ProjectSource,
  agreed: readonly string[],
): Promise<Grant | undefined> {
  // What nothing that a person agrees to would let in is refused at its line.
  const policy = requireAllowable(session, source, { allowProcess: true });
  const host = hostOf(session);
  const toolpacks = await allowToolpacks(session, source, { policy, host, agreed });
  return grantFor(source, [], { policy, host, toolpacks, providers: [] });
}

/**
 * Refuses a file of this person's own that nothing they agree to would let in.
 *
 * @returns what its project may ask of this machine so far
 * @throws {ConfigErrors} `policy-denied`
 */
function requireAllowable(session: Session, source: ProjectSource, options: PolicyOptions = {}): Policy {
  const policy = policyWithGrants(hostPolicy(session, options), new DataDirectory(session.root))(source.config.name);
  admitOwnFile(session, source, allOf(session, source, policy));
  return policy;
}

/** The admission of a file whose person would agree to all that can be agreed to. */
export function allOf(session: Session, source: ProjectSource, policy: Policy): Admission {
  return {
    policy,
    providers: providersBeyond(policy, source),
    toolpacks: toolpacksBeyond(source, policy, hostOf(session)),
  };
}

/** What a project is made with, once it was let in. */
export type Admitted = Pick<NewProject, 'grant' | 'mayCopy' | 'mayLoad'>;

/**
 * Checks a project of this person's own disk. Its directory and its image are allowed, because the person could use them
 * without Suzumio, too. The toolpacks and providers that the person agreed to are allowed. The policy decides all else.
 *
 * @returns the grant, which is kept with the project so that its turns are allowed what was allowed now; and what it may
 *   copy
 * @throws {ConfigErrors} `policy-denied`
 */
export function admitOwnFile(session: Session, loaded: ProjectSource, admitted: Admission): Admitted {
  const { policy } = admitted;
  const host = hostOf(session);
  const roots = [...policy.workspaces.roots, ...directoryOf(loaded.files)];
  const own = { ...policy, workspaces: { roots } };
  const grant = grantFor(loaded, projectDenials(own, loaded.config, host), { ...admitted, host });
  const allowed = grant ? withGrant(own, grant) : own;
  // Until it is made, nobody but its own grant lets agents of it write anywhere.
  const written = { ...host, writable: () => [...(host.writable?.() ?? []), ...(grant?.directories ?? [])] };
  return { grant, ...refuseByPolicy(loaded, allowed, written, hasDayBudget(session)) };
}

/** This machine, as project files see it. */
export function hostOf({ root }: Session): HostPaths {
  return hostPaths([root], { mounting: false, writable: () => writableByGrants(new DataDirectory(root)) });
}

/** Whether what all projects may spend in a day is bounded here: each model needs a price that counts then. */
export function hasDayBudget({ context }: Session): PolicyCheckOptions {
  return { dayBudget: dayBudgetOf(context.env) !== undefined };
}

/** What a grant lets a project do, in words. */
export function describeGrant({ directories, readonly, images, git, toolpacks, providers }: Grant): string[] {
  return [
    ...readonly.map((directory) => `mounts from ${directory}`),
    ...directories.map((directory) => `writing to ${directory}`),
    ...images.map((image) => `the image ${image}`),
    ...git.map((repository) => `clones of ${repository}`),
    ...toolpacks.map((directory) => `the toolpack in ${directory}`),
    ...providers.map((pair) => `models at ${describePair(pair)}`),
  ];
}
