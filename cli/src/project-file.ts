import { formatProblem } from '@suzumio/shared/config/config-problem';
import { type LoadedProject, loadProjectFile } from '@suzumio/shared/config/load-project';
import { renderConfig } from '@suzumio/shared/config/render-config';
import { refuseUnsupported } from '@suzumio/shared/config/unsupported';
import type { Grant } from '@suzumio/shared/policy/grant';
import type { Cell } from '@suzumio/shared/store/cell';
import type { NewProject } from '@suzumio/shared/store/create-project';
import { describeGrant } from './host-policy.js';
import { say, type Session } from './session.js';

/**
 * Loads a project file that is to be run.
 *
 * @throws {ConfigErrors} with everything that is wrong, or is not supported yet
 */
export function loadForUse(session: Session, file: string, configRoot?: string): LoadedProject {
  const loaded = loadProjectFile(file, { env: session.context.env, configRoot });
  refuseUnsupported(loaded);
  sayWarnings(session, loaded);
  return loaded;
}

/** Tells what is allowed in a file and probably not meant. */
export function sayWarnings({ context }: Session, { warnings }: LoadedProject): void {
  for (const warning of warnings) {
    context.err.write(`${formatProblem({ ...warning, message: `warning: ${warning.message}` })}\n`);
  }
}

/** Makes the project that a file describes. @throws SuzumioError `project-exists` */
export async function createFrom(
  cell: Cell,
  { config, sourceText }: Pick<LoadedProject, 'config' | 'sourceText'>,
  given: Pick<NewProject, 'grant' | 'labels'> = {},
): Promise<void> {
  await cell.createProject({ config, source: sourceText, resolved: renderConfig(config), actor: 'user', ...given });
}

/** Tells what a project was allowed because it comes from a file of this person's own. */
export function sayGrant(session: Session, { config }: LoadedProject, grant: Grant | undefined): void {
  if (!grant) return;
  say(session, `Allowed for ${config.name}, as its file is on your own disk: ${describeGrant(grant).join(', ')}.`);
}
