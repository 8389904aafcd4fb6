import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { makeStandingProject } from '@suzumio/store/cell/standing-project';
import { Cell } from '@suzumio/store/cell/cell';
import { allowHere } from './change-config.js';
import { admission, admitOwnFile, overrulingOptions, type OwnFileOptions } from './host-policy.js';
import { refuseOverrulingThere, sayGrant, sayNotes, sayWarnings } from './project-file.js';
import { refuseOptions } from './usage-error.js';
import type { StandingDifferences } from '@suzumio/contract/operations/teams';
import { findKept, requireApi } from './reach/reach.js';
import { changeLines } from './render/config-changes.js';
import { say, sayJson, sayNext, type Session } from './session.js';

export interface TeamUpOptions extends OwnFileOptions {
  from?: string;
  configRoot?: string;
}

/** Makes a team's standing project, or starts it again. */
export async function teamUp(session: Session, team: string, asked: TeamUpOptions): Promise<undefined> {
  const { from, configRoot, ...options } = asked;
  if (from === undefined) refuseForNoFile(asked);
  const api = await requireApi(session);
  const source = from === undefined ? undefined : readProjectFile(from, { env: session.context.env, configRoot });
  const here = session.url === undefined;
  if (!here) refuseOverrulingThere(options);
  const madeHere = source !== undefined && here && (await makeHere(session, team, source, options));
  const request = source === undefined || madeHere ? {} : { file: renderConfig(source.config) };
  const answer = await api.standUpTeam({ team, body: request });
  const made = madeHere || answer.made;
  const { id } = answer.project;
  sayJson(session, { ...answer, made });
  warn(session, answer.warnings);
  if (source && !here) sayNotes(session, source);
  say(session, `${id} is the standing project of ${team}${made ? '; it was made and runs' : ', and runs'}.`);
  if (answer.changes.length > 0) {
    say(session, `Version ${String(answer.version)} of its file is in force:`, ...changeLines(answer.changes, session));
  }
  const differences = differenceLines(answer.differences);
  say(session, ...differences);
  if (differences.length > 0) say(session, `teams up ${team} --from FILE brings it up to date.`);
  const [member] = (await (await findKept(session)).getTeam({ team })).team.members;
  sayNext(session, ...(member ? [`profiles send ${member.nickname} P1 "…"`] : []), `watch ${id}`);
}

/** What is said of a file does nothing without one. */
function refuseForNoFile({ configRoot, ...options }: TeamUpOptions): void {
  const given = {
    '--config-root': configRoot !== undefined,
    ...Object.fromEntries(overrulingOptions(options).map((option) => [option, true])),
  };
  refuseOptions(given, 'is about a project file: name it with --from.', 'teams up --help');
}

/** From this person's own disk: what that allows is kept with the project, as with any other. */
async function makeHere(
  session: Session,
  team: string,
  source: ProjectSource,
  options: OwnFileOptions,
): Promise<boolean> {
  const admitted = await admission(session, source, options);
  const admit = (loaded: ProjectSource) => {
    const made = admitOwnFile(session, loaded, admitted);
    sayGrant(session, loaded, made.grant);
    return made;
  };
  const cell = Cell.open(session.root);
  try {
    const loaded = await makeStandingProject(cell, { team, source, admit, actor: 'user' });
    if (loaded) sayWarnings(session, loaded);
    else await allowHere(session, source, options);
    return loaded !== undefined;
  } finally {
    await cell.close();
  }
}

function differenceLines({ absent, departed, changed }: StandingDifferences): string[] {
  return [
    ...(absent.length === 0 ? [] : [`  not in it: ${absent.join(', ')}`]),
    ...(departed.length === 0 ? [] : [`  in it, and in the team no more: ${departed.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`  changed since: ${changed.join(', ')}`]),
  ];
}

function warn({ context }: Session, warnings: readonly string[]): void {
  for (const warning of warnings) context.err.write(`warning: ${warning}\n`);
}
