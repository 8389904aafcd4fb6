import { projectDenials, refuseByPolicy } from '@suzumio/shared/policy/check-project';
import type { ProjectSource } from '@suzumio/shared/config/project-source';
import { directoryOf, type Grant, grantFor, withGrant } from '@suzumio/shared/policy/grant';
import { hostPaths } from '@suzumio/shared/policy/host-paths';
import { loadPolicy, policyFileOf } from '@suzumio/shared/policy/load-policy';
import type { Policy } from '@suzumio/shared/policy/policy';
import type { Session } from './session.js';

/** Lets projects run turns as processes for as long as a command runs, whatever the policy says. */
export interface PolicyOptions {
  readonly allowProcess?: boolean;
}

/** The file with this data directory's policy; undefined where it has none. */
export function policyFile({ root, context }: Session): string | undefined {
  const named = context.env.SUZUMIO_POLICY_FILE;
  return policyFileOf(root, named === '' ? undefined : named);
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

/**
 * Checks a project of this person's own disk. Its directory, its image and its providers are allowed, because whoever
 * runs the file could use them without Suzumio, too; all else is the policy's.
 *
 * @returns what has to be kept with the project, so that its turns are allowed what was allowed now
 * @throws {ConfigErrors} `policy-denied`
 */
export function admitOwnFile(session: Session, loaded: ProjectSource, policy: Policy): Grant | undefined {
  const host = hostPaths([session.root], { mounting: false });
  const roots = [...policy.workspaces.roots, ...directoryOf(loaded.files)];
  const own = { ...policy, workspaces: { roots } };
  const grant = grantFor(loaded, projectDenials(own, loaded.config, host));
  refuseByPolicy(loaded, grant ? withGrant(own, grant) : own, host);
  return grant;
}

/** What a grant lets a project do, in words. */
export function describeGrant({ directories, images, providers }: Grant): string[] {
  return [
    ...directories.map((directory) => `mounts from ${directory}`),
    ...images.map((image) => `the image ${image}`),
    ...providers.map(({ baseURL, baseURLEnv, apiKeyEnv }) => {
      const place = `models at ${baseURL ?? `$${String(baseURLEnv)}`}`;
      return apiKeyEnv === undefined ? place : `${place} with the key in ${apiKeyEnv}`;
    }),
  ];
}
