import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatProblem } from '@suzumio/core/config/config-problem';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { agentId, projectId } from '@suzumio/protocol/ids';
import { count, wrap } from '../render/format.js';
import { type Answers, projectFile, type WantedAgent } from '../project-template.js';
import { repositoryHere } from '../repository-here.js';
import { type RepositoryAnswers, repositoryFile } from '../repository-template.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';

/** What `init` makes a new file for. */
export interface NewProjectOptions {
  /** The team for the repository here is written without a question. */
  readonly repository: boolean;
}

/**
 * Writes a project file that can be run as it is and made one's own: for a team on a repository, or, at a terminal, for what
 * the person answers.
 */
export async function newProject(session: Session, { repository }: NewProjectOptions): Promise<undefined> {
  const { ask, err } = session.context;
  if (repository) return writeFor(session, await repositoryAnswers());
  if (ask === undefined) {
    const question = 'Which file? On a terminal, init without one asks and writes it';
    if ((await repositoryHere()).problem !== undefined) throw new UsageError(`${question}.`, 'init FILE');
    throw new UsageError(`${question}; with --repository it writes one for the repository here.`, 'init --repository');
  }
  const tell: Tell = (text) =>
    err.write(
      text
        .split('\n')
        .flatMap((line) => wrap(line, err.columns))
        .join('\n'),
    );
  tell('A project is a task and a team. Enter takes what stands in brackets; Ctrl-C ends this.\n\n');
  const isTeam =
    (await repositoryHere()).problem === undefined &&
    (await agreed(ask, 'This is a Git repository. A maintainer, a developer and a reviewer for it'));
  const answers = isTeam ? await teamInterview(ask, tell) : await interview(ask, tell);
  return writeFor(session, answers, await freeFile(ask, tell, `${answers.name}.yaml`));
}

async function writeFor(
  session: Session,
  answers: Answers | RepositoryAnswers,
  file = `${answers.name}.yaml`,
): Promise<undefined> {
  const { err, out } = session.context;
  const here = 'agents' in answers ? undefined : await repositoryHere();
  const text = 'agents' in answers ? projectFile(answers) : repositoryFile({ ...answers, settings: here?.settings });
  await write(file, text);
  const { warnings } = readProjectFile(file, { env: session.context.env });
  for (const warning of warnings) err.write(`${formatProblem(warning)}\n`);
  const { uncommitted = 0, settings = {} } = here ?? {};
  if (settings.lfs)
    err.write('warning: files here are kept in Git LFS: clones, and so agents, have pointers in their place.\n');
  if (settings.submodules)
    err.write('warning: there are submodules here: clones, and so agents, have empty directories in their place.\n');
  if (uncommitted > 0) {
    err.write(
      `warning: ${count(uncommitted, 'file')} here ${uncommitted === 1 ? 'has' : 'have'} changes that are not committed: clones, and so agents, do not have them.\n`,
    );
  }
  sayJson(session, { file, project: answers.name });
  const written = `${file} is written. Its agents play a script, so it runs as it is; change what you like.`;
  say(session, '', ...wrap(written, out.columns));
  sayNext(session, `up ${file}`, `config render ${file}`);
  return undefined;
}

const repositoryTask =
  'Keep this repository in good order: do what the user asks for, with small changes that are tested.';

/** @throws UsageError where there is no repository that can be cloned */
async function repositoryAnswers(): Promise<RepositoryAnswers> {
  const { problem } = await repositoryHere();
  if (problem === undefined) return { name: nameOfHere(), task: repositoryTask };
  throw new UsageError(problem);
}

/** A project's name, made of this directory's. */
function nameOfHere(): string {
  const words =
    basename(process.cwd())
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const name = words.join('-').slice(0, 63).replace(/-$/, '');
  return projectId.safeParse(name).success ? name : 'my-project';
}

async function teamInterview(ask: Ask, tell: Tell): Promise<RepositoryAnswers> {
  const name = await askName(ask, tell, nameOfHere());
  const task = oneLine(await ask(`Its task [${repositoryTask}]: `)) || repositoryTask;
  return { name, task };
}

async function agreed(ask: Ask, question: string): Promise<boolean> {
  return !/^n/i.test(oneLine(await ask(`${question}? [yes]: `)));
}

type Ask = (question: string) => Promise<string>;
type Tell = (text: string) => void;

async function interview(ask: Ask, tell: Tell): Promise<Answers> {
  const name = await askName(ask, tell, 'my-project');
  const task = await valid(ask, tell, 'Its task, in a sentence or two', undefined, (text) =>
    text === '' ? 'a project needs a task' : undefined,
  );
  const agents: WantedAgent[] = [];
  tell('\nIts agents. The first one gets your mail and hands in the report; "-" ends the list.\n');
  for (const suggested of suggestedAgents) {
    const number = agents.length + 1;
    const id = await valid(ask, tell, `Agent ${number}`, suggested, (text) => {
      if (text === '-' && number > 1) return undefined;
      return agents.some((agent) => agent.id === text) ? 'there is one of that name' : problemOf(agentId, text);
    });
    if (id === '-') break;
    const role = oneLine(await ask(`  Its role [${id}]: `)) || id;
    const part = `Do your part as ${role}.`;
    agents.push({ id, role, prompt: oneLine(await ask(`  What it does [${part}]: `)) || part });
  }
  return { name, task, agents };
}

function askName(ask: Ask, tell: Tell, suggested: string): Promise<string> {
  return valid(ask, tell, 'Name of the project', suggested, (text) => problemOf(projectId, text));
}

/** The role suggested for each place; from the third on, none. */
const suggestedAgents = ['editor', 'writer', ...Array.from({ length: 18 }, () => '-')];

/** Asks until the answer will do. */
async function valid(
  ask: Ask,
  tell: Tell,
  question: string,
  suggested: string | undefined,
  problem: (answer: string) => string | undefined,
): Promise<string> {
  for (;;) {
    const shown = suggested === undefined ? '' : ` [${suggested}]`;
    const answer = oneLine(await ask(`${question}${shown}: `)) || (suggested ?? '');
    const wrong = problem(answer);
    if (wrong === undefined) return answer;
    tell(`  ${wrong}\n`);
  }
}

function problemOf(schema: typeof projectId, text: string): string | undefined {
  return schema.safeParse(text).error?.issues[0]?.message;
}

async function freeFile(ask: Ask, tell: Tell, suggested: string): Promise<string> {
  return valid(ask, tell, '\nFile', existsSync(suggested) ? undefined : suggested, (file) => {
    if (file === '') return 'it needs a name';
    return existsSync(file) ? `${file} is there already, and stays as it is` : undefined;
  });
}

/** @throws SuzumioError where the file cannot be made, or has come into being meanwhile */
async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UsageError(`${file} is there already, and stays as it is.`);
    throw new SuzumioError(
      'invalid-request',
      `${file} cannot be written: ${(error as Error).message}.`,
      {},
      { cause: error },
    );
  }
}
