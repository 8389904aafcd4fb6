import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { refuseByPolicy } from '@suzumio/core/policy/check-project';
import { renderPolicy } from '@suzumio/core/policy/render-policy';
import { admitOwnFile, allOf, describeGrant, hasDayBudget, hostOf, hostPolicy } from './host-policy.js';
import { policyFile } from './policy-file.js';
import { checkPolicyThere, showPolicyThere } from './policy-there.js';
import { sayWarnings } from './project-file.js';
import { sayHint, sayJson, say, type Session } from './session.js';

/** Prints the policy of the server that was asked for by name, else of this machine. */
export function showPolicy(session: Session): Promise<undefined> {
  if (session.url !== undefined) return showPolicyThere(session, session.url);
  const policy = hostPolicy(session);
  const file = policyFile(session);
  sayJson(session, { file: file ?? null, policy });
  say(session, `# ${file ?? 'the defaults: there is no policy.yaml in the data directory'}`);
  if (!session.json) session.context.out.write(renderPolicy(policy));
  return Promise.resolve(undefined);
}

export interface CheckOptions {
  readonly configRoot?: string;
  readonly posted: boolean;
}

/** Says what that policy refuses a project file. */
export function checkAgainstPolicy(
  session: Session,
  file: string,
  { configRoot, posted }: CheckOptions,
): Promise<undefined> {
  const loaded = readProjectFile(file, { env: session.context.env, configRoot });
  sayWarnings(session, loaded);
  // A server takes files as posted ones only.
  if (session.url !== undefined) return checkPolicyThere(session, session.url, file, loaded);
  const policy = hostPolicy(session);
  const grant = posted ? undefined : admitOwnFile(session, loaded, allOf(session, loaded, policy)).grant;
  if (posted) refuseByPolicy(loaded, policy, hostOf(session), hasDayBudget(session));
  sayJson(session, { project: loaded.config.name, allowed: true, grant: grant ?? null });
  if (grant === undefined) say(session, `${file} asks for nothing that the policy does not allow.`);
  else {
    say(
      session,
      `Where ${file} is your own, up and init allow it beyond the policy: ${describeGrant(grant).join(', ')}.`,
    );
    sayHint(session, `policy check ${file} --posted`);
  }
  return Promise.resolve(undefined);
}
