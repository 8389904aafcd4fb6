import type { Client } from '@suzumio/contract/client/client';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { SharedDiffView } from '@suzumio/contract/model/shared-repository';
import type { Command } from 'commander';
import { saveStream } from '../files/save-content.js';
import { findReads } from '../reach/reach.js';
import { renderDiff } from '../render/diff.js';
import { sharedCommitTable, sharedPushTable, sharedRefTable } from '../render/shared-tables.js';
import { say, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { registerExchange, whyNothing } from './git-exchange.js';
import { examples } from './help.js';
import { type LimitOptions, newestOf, sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

/** The repository that the agents of a project share. */
export const registerGit: Register = (program, action) => {
  const group: Command = program
    .command('git')
    .description("see the repository that a project's agents share, get it, and push to it");
  examples(group.command('refs <project>').description('list its branches and tags'), [
    'git refs tides',
    'where they are, and whose push that was',
  ]).action(action(refs));
  examples(withLimit(group.command('log <project>').description('list the pushes to it')), [
    'git log tides',
    'the newest first',
  ]).action(action(log));
  examples(
    group
      .command('diff <project> <from> <to>')
      .description('show what differs between two branches, tags or commits of it')
      .option('--common', 'what the second has changed since both were the same', false)
      .option('--commits', 'only the commits that the second has and the first lacks', false),
    ['git diff tides 1f0c2d9a77 8d3e5b1c02', 'what a push has moved: git log tides'],
    ['git diff tides main suzumio/developer --common', 'what the branch would bring'],
    ['git diff tides main suzumio/developer --common --commits'],
    ['git diff tides main suzumio/developer --common | git apply', 'makes the same changes to files of yours'],
  ).action(action(diff));
  examples(
    group
      .command('bundle <project> [ref]')
      .description('write it, or one branch or tag of it, into a file that git clone and git fetch take')
      .option('--output <path>', 'where to; by default PROJECT.bundle, here')
      .option('--force', 'write over a file that is there', false),
    ['git bundle tides', 'then: git clone tides.bundle'],
    ['git bundle tides refs/heads/suzumio/developer --output developer.bundle'],
  ).action(action(bundle));
  registerExchange(group, action);
};

/** Lists what is in the shared repository, or says why there is nothing. */
async function sayShared<Row>(
  session: Session,
  { api, project }: { api: Client; project: string },
  rows: readonly Row[],
  toTable: Parameters<typeof sayRows<Row>>[3],
): Promise<void> {
  sayRows(session, rows, rows.length > 0 ? '' : await whyNothing(api, project), toTable);
}

async function refs(session: Session, project: string): Promise<undefined> {
  const api = await findReads(session);
  const { items } = await api.listSharedRefs({ project });
  await sayShared(session, { api, project }, items, sharedRefTable);
}

async function log(session: Session, project: string, { limit }: LimitOptions): Promise<undefined> {
  const api = await findReads(session);
  const pushes = await newestOf(session, limit, (page) => api.listSharedPushes({ project, query: page }));
  await sayShared(session, { api, project }, pushes.toReversed(), sharedPushTable);
}

async function bundle(
  session: Session,
  project: string,
  ref: string | undefined,
  { output = `${project}.bundle`, force }: { output?: string; force: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  await saveStream(output, () => api.getSharedBundle({ project, query: { ref } }), { force });
  tell(session, { project, ref: ref ?? null, output }, [`Wrote ${output}: git clone ${output}, or git fetch it.`]);
}

/** How often a diff is asked for that is not made yet. Each time it is waited for. */
const mostAsked = 5;

async function diff(
  session: Session,
  project: string,
  from: string,
  to: string,
  { common, commits }: { common: boolean; commits: boolean },
): Promise<undefined> {
  const { context, json } = session;
  const made = await sharedDiff(await findReads(session), project, {
    from,
    to,
    common: String(common) as 'true' | 'false',
  });
  if (commits) {
    sayRows(session, made.commits, `${to} has no commit that ${from} lacks.`, sharedCommitTable);
    const more = made.ahead - made.commits.length;
    if (more > 0) say(session, `and ${String(more)} more`);
  } else if (json) sayJson(session, made);
  else if (made.diff === '') say(session, `Nothing differs between ${from} and ${to}.`);
  else context.out.write(renderDiff(made.diff, context.out));
}

async function sharedDiff(
  api: Client,
  project: string,
  query: { from: string; to: string; common: 'true' | 'false' },
): Promise<SharedDiffView> {
  for (let asked = 1; ; asked += 1) {
    try {
      return await api.getSharedDiff({ project, query });
    } catch (error) {
      if (asked === mostAsked || !isSuzumioError(error, 'git-diff-pending')) throw error;
    }
  }
}
