import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { CheckProjectFileAnswer } from '@suzumio/contract/operations/project-files';
import type { ConfigProblem } from '@suzumio/core/config/config-problem';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import type { PolicyOptions } from '../host-policy.js';
import { findReads, requireApi } from '../reach/reach.js';
import { exampleTable } from '../render/example-table.js';
import { count } from '../render/format.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import type { Register } from './action.js';
import { registerConfigVersions } from './config-versions.js';
import { examples } from './help.js';
import { sayRows } from './list.js';

export const registerConfig: Register = (program, action) => {
  const config = program.command('config').description('look at project files, and change the file of a project');
  examples(
    config
      .command('render <file>')
      .description('print a project file with imports, environment, extends and defaults resolved')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--show-env', "print the values of agents' env, which may be secrets", false),
    ['config render newsroom.yaml'],
    ['config render newsroom.yaml --show-env > rendered.yaml', 'a file that needs no other, nor a variable'],
  ).action(action(render));
  examples(
    config
      .command('check <file>')
      .description('say what is wrong with a project file for the server that runs, without making a project')
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file')
      .option('--allow-process', 'let its turns run as processes, where the server allows that, too', false),
    ['config check newsroom.yaml'],
  ).action(action(check));
  examples(
    config
      .command('import <file>')
      .description(
        'print a file of the published Suzumio as one of this one, to be kept beside it, and say what differs',
      )
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file'),
    ['config import demo.yaml > demo.suzumio.yaml'],
  ).action(action(importFile));
  examples(config.command('schema').description('print the JSON Schema of project files, for editors'), [
    'config schema > suzumio.schema.json',
  ]).action(action(schema));
  examples(
    config
      .command('examples')
      .description('list the examples that are installed, and what keeps one from running here'),
    ['config examples'],
  ).action(action(listExamples));
  registerConfigVersions(config, action);
  examples(config, ['config render newsroom.yaml'], ['config apply newsroom newsroom.yaml']);
};

/** @throws SuzumioError `invalid-config` with everything that is wrong */
async function check(
  session: Session,
  file: string,
  { configRoot, ...options }: PolicyOptions & { readonly configRoot?: string },
): Promise<undefined> {
  const { readProjectFile } = await import('@suzumio/runtime/disk/load-project-file');
  const { renderConfig } = await import('@suzumio/core/config/render-config');
  const { refuseOverrulingThere, sayWarnings } = await import('../project-file.js');
  if (session.url !== undefined) refuseOverrulingThere(options);
  // What is wrong with the file itself is told with the places in it, whether a server runs or not.
  const loaded = readProjectFile(file, { env: session.context.env, configRoot });
  const api = await requireApi(session);
  const answer = await api.checkProjectFile({ body: { file: renderConfig(loaded.config) } });
  const { problems, warnings } = session.url === undefined ? await asOwn(session, loaded, answer, options) : answer;
  if (problems.length > 0) {
    const lines = problems.map(({ message }) => `${file}  ${message}`);
    throw new SuzumioError('invalid-config', lines.join('\n'), { problems: lines });
  }
  sayWarnings(session, loaded);
  for (const { code, message } of warnings)
    if (code === 'repository-invalid') session.context.err.write(`warning: ${message}\n`);
  sayJson(session, { ...answer, problems, warnings, notes: loaded.notes });
  const { project } = answer;
  if (project)
    say(
      session,
      `${project.name} could be made ${session.url === undefined ? 'here' : `at ${session.url}`}: ${count(project.agentCount, 'agent')}.`,
    );
  sayNext(session, `init ${file}${options.allowProcess ? ' --allow-process' : ''}`);
  return undefined;
}

/**
 * The answer of a server on this machine about a file of this person's own: `init` and `up` allow that what they allow no file that is
 * posted, and inspect its repositories.
 *
 * @throws {ConfigErrors} `policy-denied`
 */
async function asOwn(
  session: Session,
  loaded: ProjectSource,
  { problems, warnings }: CheckProjectFileAnswer,
  options: PolicyOptions,
): Promise<Pick<CheckProjectFileAnswer, 'problems' | 'warnings'>> {
  const { admitOwnFile, allOf, hostPolicy } = await import('../host-policy.js');
  const { inspectProject } = await import('@suzumio/runtime/repository/project-repositories');
  admitOwnFile(session, loaded, allOf(session, loaded, hostPolicy(session, options)));
  const found = await inspectProject(loaded);
  const others = (list: CheckProjectFileAnswer['problems']) =>
    list.filter(({ code }) => code !== 'policy-denied' && code !== 'repository-invalid');
  const shown = (list: readonly ConfigProblem[]) =>
    list.map(({ code, line, column, path = null, message }) => ({ code, line, column, path, message }));
  return {
    problems: [...others(problems), ...shown(found.problems)],
    warnings: [...others(warnings), ...shown(found.warnings)],
  };
}

async function importFile(session: Session, file: string, { configRoot }: { configRoot?: string }): Promise<undefined> {
  const { importPublishedFile } = await import('@suzumio/runtime/disk/load-project-file');
  const { formatProblem } = await import('@suzumio/core/config/config-problem');
  const { text, changes } = importPublishedFile(file, { configRoot });
  sayJson(session, { file: text, changes });
  if (!session.json) session.context.out.write(text);
  for (const change of changes) session.context.err.write(`${formatProblem(change)}\n`);
}

async function schema(session: Session): Promise<undefined> {
  const { projectFileSchema } = await import('@suzumio/core/config/file-schema');
  session.context.out.write(`${JSON.stringify(projectFileSchema(), null, 2)}\n`);
}

async function listExamples(session: Session): Promise<undefined> {
  const { items } = await (await findReads(session)).listExamples();
  sayRows(session, items, 'No examples are installed.', exampleTable);
}

async function render(
  session: Session,
  file: string,
  options: { configRoot?: string; showEnv: boolean },
): Promise<undefined> {
  const { readProjectFile } = await import('@suzumio/runtime/disk/load-project-file');
  const { withoutEnvValues } = await import('@suzumio/core/config/agent-env');
  const { renderConfig } = await import('@suzumio/core/config/render-config');
  const { sayWarnings } = await import('../project-file.js');
  const loaded = readProjectFile(file, { env: session.context.env, configRoot: options.configRoot });
  sayWarnings(session, loaded);
  const config = options.showEnv ? loaded.config : withoutEnvValues(loaded.config);
  sayJson(session, config);
  if (!session.json) session.context.out.write(renderConfig(config));
}
