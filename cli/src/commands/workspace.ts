import { posix } from 'node:path';
import { allItems } from '@suzumio/contract/client/all-items';
import type { Client } from '@suzumio/contract/client/client';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { WorkspaceEntryView } from '@suzumio/contract/model/workspace';
import type { Command } from 'commander';
import { printBytes, saveFile } from '../files/save-content.js';
import { findReads, requireApi } from '../reach/reach.js';
import { renderDiff } from '../render/diff.js';
import { changedFiles, size } from '../render/format.js';
import { workspaceRepositoryLines } from '../render/workspace-repository.js';
import { fileChangeTable, workspaceChangeTable, workspaceEntryTable } from '../render/workspace-tables.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { wholeNumber } from './arguments.js';
import { examples } from './help.js';
import { type LimitOptions, newestOf, sayRows, withLimit } from './list.js';
import { tell } from './tell.js';

const turnNumber = wholeNumber(0, 1_000_000_000);

function atTurn(command: Command): Command {
  return command.option('--turn <n>', 'as it was after the turn of this number; 0: before the first', turnNumber);
}

/** Workspaces: what turns have changed in agents' files, and those files. */
export const registerWorkspace: Register = (program, action) => {
  const group: Command = program
    .command('workspace')
    .description("see agents' files, and what each of their turns has changed");
  examples(
    withLimit(
      group
        .command('log <project> <agent>')
        .description("list the turns that have changed an agent's files")
        .option('--path <path>', 'only those that have changed what is at this path, or below it'),
    ),
    ['workspace log newsroom reporter-1', 'the newest first'],
    ['workspace log newsroom reporter-1 --path notes/north.md'],
  ).action(action(log));
  examples(
    group
      .command('diff <project> <agent>')
      .description('show what a turn has changed in its files')
      .argument('[n]', 'the number of the turn; without it, the newest that has changed any', turnNumber)
      .option('--path <path>', 'only what is at this path, or below it')
      .option('--from <n>', 'all that has changed since the turn of this number; 0: since before the first', turnNumber)
      .option('--names', 'only which files', false),
    ['workspace diff newsroom reporter-1', 'of the newest turn that has changed any'],
    ['workspace diff newsroom reporter-1 3 --names'],
    ['workspace diff newsroom reporter-1 5 --from 2', 'what turns 3 to 5 have changed together'],
    ['workspace diff newsroom reporter-1 3 | git apply', 'makes the same changes to files of yours'],
  ).action(action(diff));
  examples(
    atTurn(
      group
        .command('ls <project> <agent> [path]')
        .description("list what is in an agent's workspace, or in a directory of it"),
    ),
    ['workspace ls newsroom reporter-1'],
    ['workspace ls newsroom reporter-1 src --turn 3', 'as it was after turn 3'],
  ).action(action(ls));
  examples(
    atTurn(
      group
        .command('get <project> <agent> <path>')
        .description("write a file of an agent's workspace into your own files, and check that it is whole"),
    )
      .option('--output <path>', 'where to; by default its own name, here; - for standard output')
      .option('--force', 'write over a file that is there', false),
    ['workspace get newsroom reporter-1 notes/north.md'],
    ['workspace get newsroom reporter-1 notes/north.md --turn 3 --output - | wc -w', 'as it was after turn 3'],
  ).action(action(get));
  examples(
    group
      .command('show <project> <agent>')
      .description('say which repository it is a clone of, where it began, and how far that has gone on'),
    ['workspace show tides developer', 'base, and the commits since'],
  ).action(action(show));
  examples(
    group
      .command('restore <project> <agent>')
      .description("make an agent's files what they were after one of its turns")
      .argument('<n>', 'the number of the turn; 0: before the first', turnNumber),
    ['workspace restore newsroom reporter-1 3', 'its next turn begins with the files that turn 3 left'],
  ).action(action(restore));
};

async function log(
  session: Session,
  project: string,
  agent: string,
  { limit, path }: LimitOptions & { path?: string },
): Promise<undefined> {
  const api = await findReads(session);
  const changes = await newestOf(session, limit, (page) =>
    api.listWorkspaceChanges({ project, agent, query: { ...page, path } }),
  );
  const newest = changes.toReversed();
  const none = path === undefined ? nothingYet(agent) : `No turn of ${agent} has changed ${path}.`;
  sayRows(session, newest, none, workspaceChangeTable);
  const last = newest.find(({ turn }) => turn !== null);
  if (last) sayHint(session, `workspace diff ${project} ${agent} ${last.turnNumber}`);
}

async function diff(
  session: Session,
  project: string,
  agent: string,
  n: number | undefined,
  { path, from, names }: { path?: string; from?: number; names: boolean },
): Promise<undefined> {
  const { context, json } = session;
  const api = await findReads(session);
  const number = n ?? (await newestChange(api, project, agent));
  if (number === undefined) {
    sayJson(session, names ? [] : null);
    say(session, nothingYet(agent));
    return;
  }
  const asked = { project, turn: `${agent}:${number}` };
  const who = from === undefined ? `Turn ${number} of ${agent} has` : `Since turn ${from}, ${agent} has`;
  const none = `${who} changed no files${path === undefined ? '' : ` at ${path}`}.`;
  if (names) {
    const changes = await allItems((after: string | undefined) =>
      api.getTurnChanges({ ...asked, query: { limit: 1000, after, path, from } }),
    );
    sayRows(session, changes, none, fileChangeTable);
    return;
  }
  const text = await api.getTurnDiff({ ...asked, query: { path, from } });
  if (json) {
    const {
      turn,
      turnNumber: ofAgent,
      files,
    } = await api.getTurnChanges({ ...asked, query: { limit: 1, path, from } });
    sayJson(session, { turn, turnNumber: ofAgent, agent, files, diff: text });
  } else if (text === '') say(session, none);
  else context.out.write(renderDiff(text, context.out));
}

function nothingYet(agent: string): string {
  return `No turn of ${agent} has changed its files yet.`;
}

async function newestChange(api: Client, project: string, agent: string): Promise<number | undefined> {
  const { items } = await api.listWorkspaceChanges({ project, agent, query: { limit: 1000 } });
  return items.findLast(({ turn }) => turn !== null)?.turnNumber;
}

interface AtTurn {
  turn?: number | undefined;
}

async function ls(
  session: Session,
  project: string,
  agent: string,
  path: string | undefined,
  { turn }: AtTurn,
): Promise<undefined> {
  const api = await findReads(session);
  const entries = await allItems((after: string | undefined) =>
    api.listWorkspaceEntries({ project, agent, query: { path, turn, limit: 1000, after } }),
  );
  sayRows(session, entries, `Nothing is in ${path ?? `the workspace of ${agent}`}.`, workspaceEntryTable);
}

async function get(
  session: Session,
  project: string,
  agent: string,
  path: string,
  { turn, output = posix.basename(path), force }: AtTurn & { output?: string; force: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  const file = await fileAt(api, { project, agent, path, turn });
  const content = () => api.getWorkspaceFile({ project, agent, query: { path, turn } });
  if (output === '-') {
    await printBytes(session, file, content);
    return;
  }
  await saveFile(output, file, content, { force });
  tell(session, { ...file, output }, [`Wrote ${output}, ${size(file.sizeBytes)}.`]);
}

async function show(session: Session, project: string, agent: string): Promise<undefined> {
  const view = await (await findReads(session)).getWorkspaceRepository({ project, agent });
  sayJson(session, view);
  for (const line of workspaceRepositoryLines(view, session.context)) say(session, line);
}

async function restore(session: Session, project: string, agent: string, turn: number): Promise<undefined> {
  const answer = await (await requireApi(session)).restoreWorkspace({ project, agent, body: { turn } });
  const since = turn === 0 ? 'before its first turn' : `after its turn ${turn}`;
  const done = `The files of ${agent} are as they were ${since} (files changed: ${changedFiles(answer.files)}).`;
  tell(session, answer, [done], `workspace log ${project} ${agent}`, `send ${project} ${agent} P1 "…"`);
}

/** @throws SuzumioError `workspace-path-unknown` */
async function fileAt(
  api: Client,
  { project, agent, path, turn }: AtTurn & { project: string; agent: string; path: string },
): Promise<WorkspaceEntryView & { kind: 'file' }> {
  const { directory, items } = await api.listWorkspaceEntries({ project, agent, query: { path, turn, limit: 1 } });
  const [entry] = items;
  if (!directory && entry?.kind === 'file') return entry;
  const is = directory ? 'a directory' : 'a link, which is not followed';
  throw new SuzumioError(
    'workspace-path-unknown',
    `${path} is ${is}: name a file (suzumio workspace ls ${project} ${agent}).`,
  );
}
