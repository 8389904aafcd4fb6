import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requestHash } from '@suzumio/store/journal';
import { beginModelCall } from '@suzumio/store/models/begin-model-call';
import { recordModelAnswer } from '@suzumio/store/models/record-model-answer';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { type Begun, hashes, type Team } from '../team.js';

export const dirOf = ({ testing, project }: Team) => testing.cell.directory.projectDir(project);
export const fileOf = ({ testing, project }: Team) => testing.cell.directory.projectFile(project);
export const placeOf = (of: Team) => ({ store: of.store, directory: dirOf(of), file: fileOf(of) });
/** The files of a project that hold something, in any of the ways in which it may be written down. */
export async function filesWith(of: Team, text: string): Promise<string[]> {
  const forms = [text, JSON.stringify(text).slice(1, -1), JSON.stringify(JSON.stringify(text)).slice(3, -3)];
  const files = (await readdir(dirOf(of), { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  const holding = await Promise.all(
    files.map(async ({ name, parentPath }) => {
      const bytes = await readFile(join(parentPath, name));
      return forms.some((form) => bytes.includes(form)) ? name : [];
    }),
  );
  return holding.flat();
}

export const answerOf = (toolCalls: { id: string; name: string; arguments: string }[], text = '') => ({
  text,
  toolCalls,
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
});

/** Asks a model for a turn, as far as the store knows of it. */
export function ask(of: Team, begun: Begun, step: string, question: string) {
  const cost = { tokens: 1, nanoUsd: 0 };
  return of.write((tx) =>
    beginModelCall(
      tx,
      {
        ...begun,
        tokenHash: hashes(begun.attempt).tool,
        step,
        requestHash: requestHash('chat', question),
        purpose: 'turn',
        preset: 'main',
        worst: cost,
        sent: { preset: 'main', model: 'm', cost, inputTokens: 1, outputTokens: 0, estimated: true },
      },
      { owner: 'here', untilMs: of.nowMs + 60_000 },
    ),
  );
}

/** What an answer is said to come from. */
export const answeredBy = {
  estimated: false,
  preset: 'main',
  provider: 'p',
  model: 'm',
  cost: { tokens: 2, nanoUsd: 0 },
  inputTokens: 1,
  outputTokens: 1,
};

export async function answered(
  of: Team,
  begun: Begun,
  step: string,
  answer: ReturnType<typeof answerOf>,
): Promise<void> {
  const call = await ask(of, begun, step, `all so far, and ${step}`);
  if (call.state !== 'begun') throw new Error(`the call is ${call.state}`);
  await of.write((tx) => recordModelAnswer(tx, call.call, answer, answeredBy));
}

/** Makes a call that the journaled answer asks for. */
export function call(
  of: Team,
  begun: Begun,
  agent: string,
  step: string,
  tool: string,
  input: unknown,
  output: object,
) {
  const made = { step, tool, input: keptInput(input), requestHash: requestHash(tool, input) };
  return of.call(begun, agent, made, () => output as never);
}
