import type { Command } from 'commander';
import { formatProblem } from '@suzumio/core/config/config-problem';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { parse } from '@suzumio/runtime/http/validate';
import { createTeamRequest, type StandingDifferences, updateTeamRequest } from '@suzumio/contract/operations/teams';
import { makeStandingProject } from '@suzumio/store/cell/standing-project';
import { Cell } from '@suzumio/store/cell/cell';
import { admission, admitOwnFile, type OwnFileOptions } from '../host-policy.js';
import { refuseOverrulingThere, sayGrant } from '../project-file.js';
import { findKept, requireApi } from '../reach/reach.js';
import { teamLines, teamTable } from '../render/profile-tables.js';
import { say, sayHint, sayJson, sayNext, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';
import type { Register } from './action.js';
import { allowProvider, gatherProviders } from './arguments.js';
import { examples } from './help.js';
import { sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

/** Teams of profiles, and the projects that are theirs for as long as they like. */
export const registerTeams: Register = (program, action) => {
  const group: Command = program.command('teams').description('keep teams of profiles, and their standing projects');
  examples(
    group
      .command('create <team>')
      .description('register a team; profiles say that they are in it')
      .option('--description <text>', 'what it is for', ''),
    ['teams create research --description "Finds out what the others need."'],
  ).action(action(create));
  examples(withLimit(group.command('list').description('list teams by name')), ['teams list']).action(action(list));
  examples(group.command('show <team>').description('show a team and its members'), ['teams show research']).action(
    action(show),
  );
  examples(
    group
      .command('update <team>')
      .description('say anew what a team is for')
      .requiredOption('--description <text>', 'what it is for'),
    ['teams update research --description "Answers questions."'],
  ).action(action(update));
  examples(group.command('delete <team>').description('delete a team in which nobody is'), [
    'teams delete research',
  ]).action(action(remove));
  examples(
    group
      .command('up <team>')
      .description("make and start a team's standing project, or say how it differs from the team")
      .option('--from <file>', 'a project file, in which the profile "*" stands for all other members')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--allow-process', 'let its turns run as processes, where the server allows that, too', false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders),
    ['teams up research --from desk.yaml', 'makes it, unless it has one of that name'],
    ['teams up research', 'starts it again, and says who has come and gone since'],
  ).action(action(up));
};

async function create(session: Session, name: string, options: { description: string }): Promise<undefined> {
  const request = parse(createTeamRequest, { name, ...options }, 'team');
  const { team } = await (await findKept(session)).createTeam({ body: request });
  tell(
    session,
    team,
    [`${name} is registered; nobody is in it yet.`],
    `profiles create NICKNAME --role ROLE --persona FILE --team ${name}`,
  );
}

async function list(session: Session, { limit }: { limit: number }): Promise<undefined> {
  const { items: teams } = await (await findKept(session)).listTeams({ query: { limit } });
  sayRows(session, teams, 'There are no teams yet.', teamTable);
  sayHint(session, teams[0] ? `teams show ${teams[0].name}` : 'teams create TEAM');
}

async function show(session: Session, name: string): Promise<undefined> {
  const { team } = await (await findKept(session)).getTeam({ team: name });
  sayJson(session, team);
  say(session, ...teamLines(team));
  sayHint(session, team.project === null ? `teams up ${name} --from FILE` : `status ${team.project}`);
}

async function update(session: Session, name: string, options: { description: string }): Promise<undefined> {
  const change = parse(updateTeamRequest, options, 'team');
  const { team } = await (await findKept(session)).updateTeam({ team: name, body: change });
  tell(session, team, [`${name} is changed.`], `teams show ${name}`);
}

async function remove(session: Session, name: string): Promise<undefined> {
  await (await findKept(session)).deleteTeam({ team: name });
  tell(session, { name }, [`${name} is no more.`], 'teams list');
}

interface UpOptions extends OwnFileOptions {
  from?: string;
  configRoot?: string;
}

async function up(session: Session, team: string, asked: UpOptions): Promise<undefined> {
  const { from, configRoot, ...options } = asked;
  if (from === undefined) refuseForNoFile(asked);
  const api = await requireApi(session);
  const source = from === undefined ? undefined : readProjectFile(from, { env: session.context.env, configRoot });
  const here = session.url === undefined;
  if (!here) refuseOverrulingThere(options);
  const madeHere = source !== undefined && here && (await makeHere(session, team, source, options));
  const request = source === undefined || here ? {} : { file: renderConfig(source.config) };
  const answer = await api.standUpTeam({ team, body: request });
  const made = madeHere || answer.made;
  const { id } = answer.project;
  sayJson(session, { ...answer, made });
  warn(session, answer.warnings);
  say(session, `${id} is the standing project of ${team}${made ? '; it was made and runs' : ', and runs'}.`);
  const differences = differenceLines(answer.differences);
  say(session, ...differences);
  if (differences.length > 0) {
    say(session, 'It keeps those that it was made with, as they were; a file with another name makes a new one.');
  }
  const [member] = (await (await findKept(session)).getTeam({ team })).team.members;
  sayNext(session, ...(member ? [`profiles send ${member.nickname} P1 "…"`] : []), `watch ${id}`);
}

/** What is said of a file does nothing without one. */
function refuseForNoFile({ configRoot, allowProcess = false, allowProvider = [] }: UpOptions): void {
  const given = [
    ...(configRoot === undefined ? [] : ['--config-root']),
    ...(allowProcess ? ['--allow-process'] : []),
    ...(allowProvider.length === 0 ? [] : ['--allow-provider']),
  ];
  if (given.length === 0) return;
  throw new UsageError(`${given.join(' and ')} is about a project file: name it with --from.`, 'teams up --help');
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
    const grant = admitOwnFile(session, loaded, admitted);
    sayGrant(session, loaded, grant);
    return grant;
  };
  const cell = Cell.open(session.root);
  try {
    const warnings = await makeStandingProject(cell, { team, source, admit, actor: 'user' });
    warn(session, (warnings ?? []).map(formatProblem));
    return warnings !== undefined;
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
