import type { Command } from 'commander';
import { saveStream } from '../files/save-content.js';
import { findReads } from '../reach/reach.js';
import { sharedPushTable, sharedRefTable } from '../render/shared-tables.js';
import type { Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';
import { type LimitOptions, newestOf, sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

/** The repository that the agents of a project share. */
export const registerGit: Register = (program, action) => {
  const group: Command = program
    .command('git')
    .description("see the repository that a project's agents share, and get it");
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
      .command('bundle <project> [ref]')
      .description('write it, or one branch or tag of it, into a file that git clone and git fetch take')
      .option('--output <path>', 'where to; by default PROJECT.bundle, here')
      .option('--force', 'write over a file that is there', false),
    ['git bundle tides', 'then: git clone tides.bundle'],
    ['git bundle tides refs/heads/suzumio/developer --output developer.bundle'],
  ).action(action(bundle));
};

const nothingYet = (project: string) => `Nothing has been pushed in ${project} yet.`;

async function refs(session: Session, project: string): Promise<undefined> {
  const { items } = await (await findReads(session)).listSharedRefs({ project });
  sayRows(session, items, nothingYet(project), sharedRefTable);
}

async function log(session: Session, project: string, { limit }: LimitOptions): Promise<undefined> {
  const api = await findReads(session);
  const pushes = await newestOf(session, limit, (page) => api.listSharedPushes({ project, query: page }));
  sayRows(session, pushes.toReversed(), nothingYet(project), sharedPushTable);
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
