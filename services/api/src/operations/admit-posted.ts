import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { ConfigErrors, type ConfigProblem } from '@suzumio/core/config/config-problem';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { refuseUnsupported } from '@suzumio/core/config/unsupported';
import { type AllowedDirectories, refuseByPolicy } from '@suzumio/core/policy/check-project';
import type { Policy } from '@suzumio/core/policy/policy';
import type { ApiContext } from '../context.js';

type Admitting = Pick<ApiContext, 'policy' | 'host' | 'budgetUsdPerDay' | 'examples'>;

/**
 * Refuses a posted project that this server does not allow, or with fields that this version does not enforce.
 *
 * @param known what the project has already: it is not refused again
 * @returns what of this host's disk it may be made with
 * @throws {ConfigErrors} `policy-denied`, `not-supported-yet`, `invalid-config`
 */
export function admitPosted(context: Admitting, loaded: LoadedProject, known?: ProjectConfig): AllowedDirectories {
  // The policy comes first: what it denies is refused for that, supported or not.
  const allowed = refuseDenied(context, loaded, known);
  refuseUnsupported(loaded);
  return allowed;
}

/** Everything that `admitPosted` would refuse, together. */
export function objectionsTo(context: Admitting, loaded: LoadedProject): readonly ConfigProblem[] {
  return [
    ...problemsOf(() => refuseDenied(context, loaded)),
    ...problemsOf(() => {
      refuseUnsupported(loaded);
    }),
  ];
}

/** The problems that something throws. @throws whatever else it throws */
export function problemsOf(check: () => unknown): readonly ConfigProblem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ConfigErrors) return error.problems;
    throw error;
  }
}

function refuseDenied(
  { policy, host, budgetUsdPerDay, examples }: Admitting,
  loaded: LoadedProject,
  known?: ProjectConfig,
) {
  const dayBudget = budgetUsdPerDay !== undefined;
  return refuseByPolicy(loaded, withExamples(policy, examples), host, { dayBudget, known });
}

/** Everybody has the examples of an installation: they may be copied whatever a policy says. */
function withExamples(policy: Policy, examples: string | undefined): Policy {
  if (examples === undefined) return policy;
  return { ...policy, workspaces: { ...policy.workspaces, roots: [...policy.workspaces.roots, examples] } };
}
