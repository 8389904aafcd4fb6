import { existsSync } from 'node:fs';
import { type ConfigProblem, formatProblem } from '@suzumio/core/config/config-problem';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { refuseUnsupported } from '@suzumio/core/config/unsupported';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Labels } from '@suzumio/contract/model/labels';
import { neverRetired, noProfiles } from '@suzumio/core/profiles/registry';
import { startFromProfiles } from '@suzumio/core/profiles/start-from-profiles';
import type { Grant } from '@suzumio/core/policy/grant';
import type { Cell } from '@suzumio/store/cell/cell';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import type { NewProject } from '@suzumio/store/cell/create-project';
import { type Admitted, describeGrant, overrulingOptions, type OwnFileOptions } from './host-policy.js';
import type { ApiClient } from './reach/api-client.js';
import { withProfiles } from './reach/profile-registry.js';
import { say, type Session } from './session.js';

/**
 * Loads a project file that runs from this machine's data directory, with the profiles that are registered there.
 *
 * @throws {ConfigErrors} with everything that is wrong, or is not supported yet
 */
export async function loadForUse(session: Session, file: string, configRoot?: string): Promise<LoadedProject> {
  const source = readProjectFile(file, { env: session.context.env, configRoot });
  const made = existsSync(new DataDirectory(session.root).projectFile(source.config.name));
  const loaded = await withProfiles(session.root, (profiles) =>
    startFromProfiles(source, made ? neverRetired(profiles) : profiles),
  );
  refuseUnsupported(loaded);
  sayWarnings(session, loaded);
  return loaded;
}

/**
 * Loads a project file that is to be posted to a server elsewhere, which has the profiles.
 *
 * @throws {ConfigErrors} with everything that can be told to be wrong from here
 */
export function loadForPosting(session: Session, file: string, configRoot?: string): ProjectSource {
  const source = readProjectFile(file, { env: session.context.env, configRoot });
  if (!startsFromProfiles(source)) refuseUnsupported(startFromProfiles(source, noProfiles));
  sayWarnings(session, source);
  return source;
}

/** Whether a file is whole only with profiles, which are kept where its project is made. */
export function startsFromProfiles({ config }: ProjectSource): boolean {
  return Object.values(config.agents).some(({ profile }) => profile !== undefined);
}

/** Tells what is allowed in a file and probably not meant, and what has no effect here. */
export function sayWarnings(session: Session, source: ProjectSource): void {
  for (const warning of source.warnings) session.context.err.write(`${formatProblem(labelled('warning', warning))}\n`);
  sayNotes(session, source);
}

/** Tells what a file has of the published format that has no effect here. */
export function sayNotes({ context }: Session, { notes }: ProjectSource): void {
  for (const note of notes) context.err.write(`${formatProblem(labelled('note', note))}\n`);
}

function labelled(label: string, problem: ConfigProblem): ConfigProblem {
  return { ...problem, message: `${label}: ${problem.message}` };
}

/** Makes the project that a file describes. @throws SuzumioError `project-exists` */
export async function createFrom(
  cell: Cell,
  { config, sourceText }: Pick<LoadedProject, 'config' | 'sourceText'>,
  given: Admitted & Pick<NewProject, 'labels'> = {},
): Promise<void> {
  await cell.createProject({ config, source: sourceText, actor: 'user', ...given });
}

/** A file is posted with everything in it that it names: the server reads nothing of this machine. */
export async function postProject(
  api: ApiClient,
  { config }: ProjectSource,
  given: { labels?: Labels | undefined } = {},
): Promise<void> {
  const { labels } = given;
  await api.createProject({ body: { file: renderConfig(config), labels } });
}

/** @throws SuzumioError `invalid-request` where the policy of a server elsewhere would be overruled */
export function refuseOverrulingThere(options: OwnFileOptions): void {
  const [option] = overrulingOptions(options);
  if (option === undefined) return;
  throw new SuzumioError('invalid-request', `The policy of a server elsewhere decides: leave out ${option}.`);
}

/** Tells what a project was allowed because it comes from a file of this person's own. */
export function sayGrant(session: Session, { config }: ProjectSource, grant: Grant | undefined): void {
  if (!grant) return;
  say(session, `Allowed for ${config.name}, as its file is on your own disk: ${describeGrant(grant).join(', ')}.`);
}
