import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { CheckProjectFileAnswer } from '@suzumio/contract/operations/project-files';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { renderPolicy } from '@suzumio/core/policy/render-policy';
import { requireApi } from './reach/reach.js';
import { sayJson, say, type Session } from './session.js';

/** Prints the policy of a server that was asked for by name. */
export async function showPolicyThere(session: Session, url: string): Promise<undefined> {
  const { policy } = await (await requireApi(session)).getPolicy();
  sayJson(session, { server: url, policy });
  say(session, `# the policy of ${url}`);
  if (!session.json) session.context.out.write(renderPolicy(policy));
  return undefined;
}

/**
 * Says what the policy of a server that was asked for by name refuses a project file. All else that is wrong with the file
 * is told only where it keeps the policy from being asked.
 *
 * @throws SuzumioError `policy-denied`, `invalid-config`
 */
export async function checkPolicyThere(
  session: Session,
  url: string,
  file: string,
  { config }: ProjectSource,
): Promise<undefined> {
  const { problems, project } = await (
    await requireApi(session)
  ).checkProjectFile({ body: { file: renderConfig(config) } });
  const denials = problems.filter(({ code }) => code === 'policy-denied');
  if (denials.length > 0) throw refusal('policy-denied', `The server at ${url} does not allow it:`, file, denials);
  if (project === null) throw refusal('invalid-config', `The server at ${url} cannot read it:`, file, problems);
  sayJson(session, { server: url, project: config.name, allowed: true, grant: null });
  say(session, `${file} asks for nothing that the policy of ${url} does not allow.`);
  return undefined;
}

/** The problems' lines are those of the file as it was sent, which nobody sees. */
function refusal(
  code: 'policy-denied' | 'invalid-config',
  what: string,
  file: string,
  problems: CheckProjectFileAnswer['problems'],
): SuzumioError {
  const lines = problems.map(({ message }) => `${file}  ${message}`);
  return new SuzumioError(code, [what, ...lines].join('\n'), { problems: lines });
}
