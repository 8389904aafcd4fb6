import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { formatProblem } from '@suzumio/core/config/config-problem';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import { agentId, projectId } from '@suzumio/protocol/ids';
import { wrap } from '../render/format.js';
import { type Answers, projectFile, type WantedAgent } from '../project-template.js';
import { say, sayJson, sayNext, type Session } from '../session.js';
import { UsageError } from '../usage-error.js';

/** Asks what a project is to be, and writes a file that can be run as it is and made one's own. */
export async function newProject(session: Session): Promise<undefined> {
  const { ask, err } = session.context;
  if (ask === undefined) {
    throw new UsageError('Which file? On a terminal, init without one asks and writes it.', 'init FILE');
  }
  const tell: Tell = (text) =>
    err.write(
      text
        .split('\n')
        .flatMap((line) => wrap(line, err.columns))
        .join('\n'),
    );
  tell('A project is a task and a team. Enter takes what stands in brackets; Ctrl-C ends this.\n\n');
  const answers = await interview(ask, tell);
  const file = await freeFile(ask, tell, `${answers.name}.yaml`);
  const text = projectFile(answers);
  const { warnings } = loadProjectText(text, file);
  for (const warning of warnings) err.write(`${formatProblem(warning)}\n`);
  await write(file, text);
  sayJson(session, { file, project: answers.name });
  const written = `${file} is written. Its agents play a script, so it runs as it is; change what you like.`;
  say(session, '', ...wrap(written, session.context.out.columns));
  sayNext(session, `up ${file}`, `config render ${file}`);
  return undefined;
}

type Ask = (question: string) => Promise<string>;
type Tell = (text: string) => void;

async function interview(ask: Ask, tell: Tell): Promise<Answers> {
  const name = await valid(ask, tell, 'Name of the project', 'my-project', (text) => problemOf(projectId, text));
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
    throw new SuzumioError(
      'invalid-request',
      `${file} cannot be written: ${(error as Error).message}.`,
      {},
      { cause: error },
    );
  }
}
