import type { Client } from '@suzumio/contract/client/client';
import { type Command, Option } from 'commander';
import { oneLine } from '@suzumio/core/prompt/body';
import { findReads, requireApi } from '../reach/reach.js';
import { count, size } from '../render/format.js';
import { movedRefs } from '../render/shared-tables.js';
import type { Session } from '../session.js';
import type { Action } from './action.js';
import { examples } from './help.js';
import { tell } from './tell.js';

/** Between a person's own repository and the one that the agents of a project share. */
export function registerExchange(group: Command, action: Action): void {
  const repository = () => new Option('--repository <dir>', 'yours, or a directory in it').default('.', 'this one');
  examples(
    group
      .command('fetch <project>')
      .description('get its branches into a repository of yours, as suzumio/PROJECT/BRANCH; yours stay as they are')
      .addOption(repository()),
    ['git fetch tides', 'then: git log suzumio/tides/main, git merge suzumio/tides/main'],
    ['git fetch tides --repository ~/tides'],
  ).action(action(fetch));
  examples(
    group
      .command('push <project> [refspec...]')
      .description('bring branches and tags of a repository of yours to it, all of them or none, and only forward')
      .addOption(repository()),
    ['git push tides', 'the branch that you are on, under its name'],
    ['git push tides fix:main', 'yours: that of the team, as git push takes it'],
    ['git push tides main v1.0 --repository ~/tides'],
    ['git push tides :old', 'deletes it there'],
  ).action(action(push));
}

interface Options {
  readonly repository: string;
}

/** What both do it with. */
async function placeOf({ context }: Session, { repository }: Options) {
  const { OwnRepository } = await import('../git/own-repository.js');
  const env = { ...context.env };
  const log = (line: string) => context.err.write(`${oneLine(line)}\n`);
  return { own: await OwnRepository.at(repository, env), env, log };
}

async function fetch(session: Session, project: string, options: Options): Promise<undefined> {
  const { fetchShared } = await import('../git/fetch-shared.js');
  const api = await findReads(session);
  const place = await placeOf(session, options);
  const moved = await fetchShared({ api, project, ...place });
  const isEmpty = moved.length === 0 && (await api.listSharedRefs({ project })).items.length === 0;
  const nothing = isEmpty
    ? await whyNothing(api, project)
    : `Nothing is new: suzumio/${project}/* is as the team has it.`;
  const names = moved.map(({ ref, ...others }) => ({ ref: ref.replace('refs/remotes/', 'refs/heads/'), ...others }));
  tell(session, { project, repository: place.own.top, moved }, [
    moved.length === 0
      ? nothing
      : `Fetched ${moved.length} ${moved.length === 1 ? 'branch' : 'branches'} of the team; yours stay as they are.`,
    ...names.map((update) => `  ${movedRefs([update])}`),
  ]);
}

async function push(session: Session, project: string, refspecs: string[], options: Options): Promise<undefined> {
  const { pushToTeam } = await import('../git/push-shared.js');
  const api = await requireApi(session);
  const place = await placeOf(session, options);
  const pushed = await pushToTeam({ api, project, refspecs, ...place });
  if (pushed === undefined) {
    tell(session, { project, repository: place.own.top, push: null }, ['Nothing is new: the team has all of that.']);
    return;
  }
  const { pack, updates } = pushed;
  const brought = pack === null ? 'with nothing new' : `with ${count(pack.objects, 'object')}, ${size(pack.sizeBytes)}`;
  tell(session, { project, repository: place.own.top, push: pushed }, [
    `Pushed to the team's repository, ${brought}:`,
    ...updates.map((update) => `  ${movedRefs([update])}`),
    'Agents see it when they fetch; send them mail to have them do so.',
  ]);
}

/** Why there is nothing in the repository that the agents of a project share. */
export async function whyNothing(api: Client, project: string): Promise<string> {
  return (await api.getResolvedConfig({ project })).git?.shared === true
    ? `Nothing has been pushed in ${project} yet.`
    : `The agents of ${project} share no repository: its file says nothing of git: { shared: true }.`;
}
