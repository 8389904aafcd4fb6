import type { Command } from 'commander';
import { parse } from '@suzumio/runtime/http/validate';
import { createTeamRequest, updateTeamRequest } from '@suzumio/contract/operations/teams';
import type { TeamUpOptions } from '../team-up.js';
import { findKept } from '../reach/reach.js';
import { teamLines, teamTable } from '../render/profile-tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { allowProvider, allowToolpack, gatherPaths, gatherProviders } from './arguments.js';
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
      .description(
        "make and start a team's standing project, or bring it up to date, and say how it differs from the team",
      )
      .option('--from <file>', 'a project file, in which the profile "*" stands for all other members')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--allow-process', 'let its turns run as processes, where the server allows that, too', false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders)
      .option('--allow-toolpack <dir>', allowToolpack, gatherPaths),
    ['teams up research --from desk.yaml', 'makes it, or applies the file to the one of that name'],
    ['teams up research', 'starts it again, and says who has come and gone since'],
  ).action(
    action(async (session: Session, team: string, options: TeamUpOptions) =>
      (await import('../team-up.js')).teamUp(session, team, options),
    ),
  );
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
