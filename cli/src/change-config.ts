import { isDeepStrictEqual } from 'node:util';
import { ConfigErrors } from '@suzumio/core/config/config-problem';
import { readProjectText } from '@suzumio/core/config/read-project';
import { renderConfig } from '@suzumio/core/config/render-config';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Grant } from '@suzumio/core/policy/grant';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { DiffConfigAnswer } from '@suzumio/contract/operations/configs';
import { extendGrant } from '@suzumio/store/cell/grants';
import { DataDirectory } from '@suzumio/store/cell/data-directory';
import { admission, admitOwnFile, type OwnFileOptions, toolpackGrant } from './host-policy.js';
import { confirm } from './commands/confirm.js';
import { sayChanges } from './commands/say-changes.js';
import { refuseOverrulingThere, sayGrant, sayWarnings } from './project-file.js';
import type { ApiClient } from './reach/api-client.js';
import { requireApi } from './reach/reach.js';
import { say, sayJson, sayNext, type Session, shellWord } from './session.js';

/** How many fields are named that a file has changed. */
const mostNamed = 5;

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

/** Says what a file would change. Toolpacks that it loads are allowed as where it is applied, since the server reads them. */
export async function diffFile(
  session: Session,
  project: string,
  path: string,
  { configRoot, allowToolpack = [] }: Pick<ApplyOptions, 'configRoot' | 'allowToolpack'>,
): Promise<undefined> {
  if (session.url !== undefined) refuseOverrulingThere({ allowToolpack });
  const source = readProjectFile(path, { env: session.context.env, configRoot });
  sayWarnings(session, source);
  const api = await requireApi(session);
  if (session.url === undefined && source.config.name === project) {
    const grant = await toolpackGrant(session, source, allowToolpack);
    await keepGrant(session, source, grant);
  }
  const answer = await api.diffConfig({ project, body: { file: textOf(source) } }).catch((error: unknown) => {
    throw refusedFile(session, project, path, error);
  });
  sayJson(session, answer);
  for (const warning of answer.warnings) session.context.err.write(`warning: ${warning}\n`);
  sayChanges(session, answer.changes, `${path} says what version ${String(answer.version)} says.`);
  if (answer.changes.length > 0) sayNext(session, `config apply ${project} ${path}`);
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

/** A refusal as it is said of a file of this disk; it leads to what allows it, where that is another command. */
function refusedFile(session: Session, project: string, path: string, error: unknown): unknown {
  if (!isSuzumioError(error, 'policy-denied')) return error;
  // The lines are those of the file as it was sent, which nobody sees.
  const message = error.message.replaceAll(/^file:\d+:\d+ {2}/gm, () => `${path}  `);
  const apply = `${session.suzumio} config apply ${project} ${path}`;
  const next =
    session.url === undefined
      ? { next: `${apply}   (it allows what a file of your own may use, shows what changes, and asks)` }
      : {};
  return new SuzumioError(error.code, message, { ...error.details, ...next }, { cause: error });
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

/** A file whose project is there. */
export interface OfferedFile {
  readonly source: ProjectSource;
  /** Whether it is applied without a question. */
  readonly isApplied: boolean;
  /** Keeps with the project what the file is allowed. */
  readonly allow: () => Promise<void>;
}

/** Applies a file that differs from its project's newest version, after a question; without a terminal, says how to. */
export async function offerFile(
  session: Session,
  api: ApiClient,
  { source, isApplied, allow }: OfferedFile,
): Promise<void> {
  const project = source.config.name;
  const wanted = { file: textOf(source) };
  const ask = session.json ? undefined : session.context.ask;
  if (isApplied || ask) await allow();
  const found = await api.diffConfig({ project, body: wanted }).catch((error: unknown) => {
    if (isApplied || !isSuzumioError(error) || error.status >= 500) throw error;
    return undefined;
  });
  if (found?.changes.length === 0) return;
  const isPossible = found?.changes.every(({ effect }) => effect !== 'refused') ?? false;
  if (found && (isApplied || (ask && isPossible))) {
    sayChanges(session, found.changes, '');
    const answer = isApplied ? 'y' : await ask?.(`Apply this to ${project}? [y/N] `);
    if (['y', 'yes'].includes((answer ?? '').trim().toLowerCase())) {
      const applied = await api.applyConfig({ project, body: { ...wanted, baseVersion: found.version } });
      say(session, `Version ${String(applied.version)} of the file of ${project} is in force.`);
      return;
    }
  }
  sayDiffers(session, source, found?.changes.map(({ path }) => path) ?? []);
}

/** Says that a file differs from what is in force, and how it is applied. */
function sayDiffers(session: Session, { config, files: [file = 'FILE'] }: ProjectSource, fields: string[]): void {
  const { name } = config;
  const named = fields.length > mostNamed ? [...fields.slice(0, mostNamed), 'and others'] : fields;
  say(
    session,
    `${name} has another version of this file, or of a profile in it, and stays as it is until this one is applied.`,
    ...(named.length === 0 ? [] : [`What differs: ${oneLine(named.join(', '))}.`]),
    `To apply it: ${session.suzumio} config apply ${name} ${shellWord(file)}`,
  );
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
  await keepGrant(session, source, grant);
}

/** Keeps with a project what its file is allowed; nothing where it needs nothing. */
export async function keepGrant(session: Session, source: ProjectSource, grant: Grant | undefined): Promise<void> {
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
