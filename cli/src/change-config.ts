import { isDeepStrictEqual } from 'node:util';
import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { readProjectText } from '@suzumio/core/config/read-project';
import { renderConfig } from '@suzumio/core/config/render-config';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { DiffConfigAnswer } from '@suzumio/contract/operations/configs';
import { extendGrant } from '@suzumio/store/cell/grants';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import { admission, admitOwnFile, type OwnFileOptions, requireAllowable } from './host-policy.js';
import { confirm } from './commands/confirm.js';
import { sayChanges } from './commands/say-changes.js';
import { refuseOverrulingThere, sayGrant, sayWarnings } from './project-file.js';
import type { ApiClient } from './reach/api-client.js';
import { requireApi } from './reach/reach.js';
import { say, sayJson, sayNext, type Session } from './session.js';

export interface ApplyOptions extends OwnFileOptions {
  readonly configRoot?: string;
  readonly base?: number;
  readonly yes: boolean;
}

/** Puts a file in force as the newest version of a project's own. */
export async function applyFile(
  session: Session,
  project: string,
  path: string,
  { configRoot, base, yes, ...options }: ApplyOptions,
): Promise<undefined> {
  if (session.url !== undefined) refuseOverrulingThere(options);
  const source = readProjectFile(path, { env: session.context.env, configRoot });
  if (source.config.name !== project) throw anotherProject(project, path, source);
  sayWarnings(session, source);
  const api = await requireApi(session);
  // What a file of this person's own disk is allowed is kept with the project, as where it was made.
  if (session.url === undefined) await allowHere(session, source, options);
  const wanted = { file: textOf(source) };
  const found = await api.diffConfig({ project, body: wanted });
  await apply(session, api, { project, found, wanted, base, yes, command: `config apply ${project} ${path}` });
  return undefined;
}

/** Puts an earlier version in force again. */
export async function revertTo(
  session: Session,
  project: string,
  version: number,
  { yes }: { yes: boolean },
): Promise<undefined> {
  const api = await requireApi(session);
  const wanted = { revert: version };
  const found = await api.diffConfig({ project, body: wanted });
  await apply(session, api, { project, found, wanted, yes, command: `config revert ${project} ${String(version)}` });
  return undefined;
}

/**
 * What a file would change in a project.
 *
 * @throws SuzumioError `policy-denied`, which leads to what allows it where that is another command
 */
export async function diffFile(
  session: Session,
  project: string,
  path: string,
  configRoot: string | undefined,
): Promise<DiffConfigAnswer> {
  const source = readProjectFile(path, { env: session.context.env, configRoot });
  sayWarnings(session, source);
  const api = await requireApi(session);
  // What nothing a person agrees to would let in is refused at its line.
  if (session.url === undefined) requireAllowable(session, source, { allowProcess: true });
  return api.diffConfig({ project, body: { file: textOf(source) } }).catch((error: unknown) => {
    if (!isSuzumioError(error, 'policy-denied')) throw error;
    const next =
      session.url === undefined
        ? {
            next: `${session.suzumio} config apply ${project} ${path}   (it allows what a file of your own may use, shows what changes, and asks)`,
          }
        : {};
    throw new SuzumioError(error.code, ofFile(path, error.message), { ...error.details, ...next }, { cause: error });
  });
}

/** Names the file whose problems a server tells. The lines are those of the file as it was sent, which nobody sees. */
function ofFile(path: string, problems: string): string {
  return problems.replaceAll(/^file:\d+:\d+ {2}/gm, () => `${path}  `);
}

interface Applied {
  project: string;
  found: DiffConfigAnswer;
  wanted: { file: string } | { revert: number };
  base?: number | undefined;
  yes: boolean;
  command: string;
}

async function apply(
  session: Session,
  api: ApiClient,
  { project, found, wanted, base, yes, command }: Applied,
): Promise<void> {
  const { changes, version: newest, warnings } = found;
  for (const warning of warnings) session.context.err.write(`warning: ${warning}\n`);
  sayChanges(session, changes, `It says what version ${String(newest)} says.`);
  const isPossible = changes.every(({ effect }) => effect !== 'refused');
  // What is refused anyway is refused without a question.
  if (isPossible && changes.length > 0) {
    await confirm(session, `This becomes version ${String(newest + 1)} of the file of ${project}.`, { yes, command });
  }
  const answer = await api.applyConfig({ project, body: { ...wanted, baseVersion: base ?? newest } });
  sayJson(session, answer);
  if (answer.version === newest) say(session, `Version ${String(newest)} stays in force.`);
  else say(session, `Version ${String(answer.version)} of the file of ${project} is in force.`);
  sayNext(session, `status ${project}`);
}

/** The file itself where a server understands it alone, with its comments; else what it is resolved to. */
function textOf({ config, sourceText }: ProjectSource): string {
  try {
    if (isDeepStrictEqual(readProjectText(sourceText, 'file').config, config)) return sourceText;
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
  }
  return renderConfig(config);
}

/** Keeps with a project what a file of this person's own disk is allowed beyond the policy, as where it was made. */
export async function allowHere(session: Session, source: ProjectSource, options: OwnFileOptions): Promise<void> {
  const { grant } = admitOwnFile(session, source, await admission(session, source, options));
  if (!grant) return;
  await extendGrant(new DataDirectory(session.root), source.config.name, grant);
  sayGrant(session, source, grant);
}

function anotherProject(project: string, path: string, { config: { name } }: ProjectSource): SuzumioError {
  return new SuzumioError(
    'invalid-request',
    `${path} is the file of a project ${name}: a project keeps its name, ${project}.`,
    { project },
  );
}
