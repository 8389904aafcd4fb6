import type { Command } from 'commander';
import type { Client } from '@suzumio/contract/client/client';
import { findReads } from '../reach/reach.js';
import { versionTable } from '../render/config-changes.js';
import { sayHint, sayJson, type Session } from '../session.js';
import { refuseOptions, UsageError } from '../usage-error.js';
import type { ApplyOptions } from '../change-config.js';
import type { Register } from './action.js';
import { allowProvider, allowToolpack, gatherPaths, gatherProviders, parseVersion } from './arguments.js';
import { examples } from './help.js';
import { sayChanges } from './say-changes.js';
import { type LimitOptions, newestOf, sayRows, withLimit } from './list.js';

/** The versions of the file of a project that is there. */
export function registerConfigVersions(config: Command, action: Parameters<Register>[1]): void {
  examples(withLimit(config.command('versions <project>').description("list the versions of a project's file")), [
    'config versions newsroom',
  ]).action(action(versions));
  examples(
    config
      .command('show <project> [version]')
      .description("print a project's file as it was given: the newest version, or another one")
      .option('--rendered', 'with everything resolved: imports, profiles, defaults', false),
    ['config show newsroom > newsroom.yaml'],
    ['config show newsroom 3'],
    ['config show newsroom --rendered', 'a file that can be applied from anywhere'],
  ).action(action(show));
  examples(
    withRoot(config.command('diff <project> [file]'))
      .description('say what a file would change in a project, or what a version has changed')
      .option('--to <n>', 'what this version changed, instead of a file', parseVersion)
      .option('--from <n>', 'compare that version with this one, instead of the one before', parseVersion)
      .option('--allow-toolpack <dir>', allowToolpack, gatherPaths),
    ['config diff newsroom newsroom.yaml', 'what config apply would change'],
    ['config diff newsroom', 'what the newest version changed'],
    ['config diff newsroom --from 1 --to 4'],
  ).action(action(diff));
  examples(
    withRoot(config.command('apply <project> <file>'))
      .description("put a file in force as a new version of a project's own; agents have it from their next turn")
      .option(
        '--base <n>',
        'the version that the file was made from: refused where another is the newest',
        parseVersion,
      )
      .option('--allow-process', 'let its turns run as processes, where the server allows that, too', false)
      .option('--allow-provider <address=key>', allowProvider, gatherProviders)
      .option('--allow-toolpack <dir>', allowToolpack, gatherPaths)
      .option('--yes', 'without a question', false),
    ['config apply newsroom newsroom.yaml', 'shows what changes, and asks'],
    ['config apply newsroom newsroom.yaml --base 3 --yes'],
  ).action(
    action(async (session: Session, project: string, file: string, options: ApplyOptions) =>
      (await import('../change-config.js')).applyFile(session, project, file, options),
    ),
  );
  examples(
    config
      .command('revert <project>')
      .argument('<version>', 'which', parseVersion)
      .description("put an earlier version of a project's file in force again, as a new one")
      .option('--yes', 'without a question', false),
    ['config revert newsroom 3'],
  ).action(
    action(async (session: Session, project: string, version: number, options: { yes: boolean }) =>
      (await import('../change-config.js')).revertTo(session, project, version, options),
    ),
  );
}

function withRoot(command: Command): Command {
  return command.option('--config-root <dir>', 'where imports may come from, instead of the directory of the file');
}

async function versions(session: Session, project: string, { limit }: LimitOptions): Promise<undefined> {
  const api = await findReads(session);
  const rows = await newestOf(session, limit, (query) => api.listConfigVersions({ project, query }));
  sayRows(session, rows, 'There are none.', versionTable);
  sayHint(session, `config diff ${project}`, `config apply ${project} FILE`);
}

async function show(
  session: Session,
  project: string,
  version: string | undefined,
  { rendered }: { rendered: boolean },
): Promise<undefined> {
  const api = await findReads(session);
  const source = rendered
    ? await renderedVersion(api, project, version)
    : version === undefined
      ? await api.getProjectSource({ project })
      : await api.getConfigVersion({ project, version });
  if (source.file === null) {
    throw new UsageError(
      `The text of version ${String(source.version)} is not there any more.`,
      `config versions ${project}`,
    );
  }
  sayJson(session, { version: source.version, file: source.file });
  if (!session.json) session.context.out.write(source.file.endsWith('\n') ? source.file : `${source.file}\n`);
}

async function renderedVersion(api: Client, project: string, asked: string | undefined) {
  const version = asked ?? String((await api.getProjectSource({ project })).version);
  const answer = await api.getConfigVersion({ project, version, query: { rendered: 'true' } });
  return { version: answer.version, file: answer.rendered ?? null };
}

interface DiffOptions {
  configRoot?: string;
  allowToolpack?: readonly string[];
  to?: number;
  from?: number;
}

async function diff(
  session: Session,
  project: string,
  file: string | undefined,
  { to: asked, from, ...options }: DiffOptions,
): Promise<undefined> {
  if (file !== undefined) {
    if (asked !== undefined || from !== undefined) {
      throw new UsageError(
        'A file is compared with the newest version: leave out --from and --to.',
        'config diff --help',
      );
    }
    return (await import('../change-config.js')).diffFile(session, project, file, options);
  }
  refuseOptions(
    { '--allow-toolpack': options.allowToolpack !== undefined },
    'is about a file: name it.',
    'config diff --help',
  );
  const api = await findReads(session);
  const version = asked ?? (await api.getProjectSource({ project })).version;
  const answer = await api.compareConfigVersions({
    project,
    version: String(version),
    query: from === undefined ? {} : { from },
  });
  sayJson(session, answer);
  const none = version === 1 && from === undefined ? 'The first version changed nothing.' : 'Both say the same.';
  sayChanges(session, answer.changes, none);
  sayHint(session, `config versions ${project}`);
}
