import type { Client } from '@suzumio/contract/client/client';
import { oneLine } from '@suzumio/core/prompt/body';
import { Argument, type Command } from 'commander';
import { complete, type Names, optionValue } from '../completion/candidates.js';
import { installation, scripts, type Shell, shells } from '../completion/scripts.js';
import { cut } from '../render/format.js';
import { allProjects } from '../reach/api-client.js';
import { findKept, findReads } from '../reach/reach.js';
import { createSession, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';

/** How many candidates of unlimited lists are shown. */
const newest = 50;

export const registerCompletion: Register = (program, action) => {
  examples(
    program
      .command('completion')
      .description('print what makes a shell complete commands, options and names')
      .addArgument(new Argument('<shell>').choices(shells)),
    ...shells.map((shell) => [installation[shell].replace(/^suzumio /, '')] as const),
  ).action(
    action(async ({ context }: Session, shell: Shell): Promise<undefined> => {
      context.out.write(scripts[shell]);
      return Promise.resolve(undefined);
    }),
  );
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(action((session: Session, words: string[]) => answer(program, session, words)));
};

/** Answers a shell. It prints no error: a person who presses Tab wants none. */
async function answer(program: Command, asked: Session, words: string[]): Promise<undefined> {
  const { context } = asked;
  const [root, url] = [optionValue(words, '--root'), optionValue(words, '--url')];
  const session = createSession(context, {
    ...(root === undefined ? {} : { root }),
    ...(url === undefined ? {} : { url }),
  });
  asked.onEnd(() => session.end());
  const found = await complete(program, words, namesFrom(session));
  const lines =
    found === 'files' ? [':files'] : found.map(({ word, meaning }) => (meaning ? `${word}\t${meaning}` : word));
  context.out.write(lines.map((line) => `${line}\n`).join(''));
  return undefined;
}

function namesFrom(session: Session): Names {
  const orNone = async <Name>(ask: () => Promise<Name[]>): Promise<Name[]> => {
    try {
      return await ask();
    } catch {
      return [];
    }
  };
  const quietly = <Name>(ask: (api: Client) => Promise<Name[]>) => orNone(async () => ask(await findReads(session)));
  const registered = (ask: (api: Client) => Promise<string[]>) => orNone(async () => ask(await findKept(session)));
  return {
    projects: () => quietly(allProjects),
    agents: (project) => quietly(async (api) => (await api.getProject({ project })).agents.map(({ id }) => id)),
    roles: (project) =>
      project === ''
        ? registered(async (api) => distinct((await api.listProfiles(everyProfile)).items.map(({ role }) => role)))
        : quietly(async (api) => distinct((await api.getProject({ project })).agents.map(({ role }) => role))),
    teams: (project) =>
      project === ''
        ? registered(async (api) => (await api.listTeams({ query: { limit: 1000 } })).items.map(({ name }) => name))
        : quietly(async (api) =>
            distinct((await api.getProject({ project })).agents.flatMap(({ team }) => team ?? [])),
          ),
    profiles: () =>
      registered(async (api) => (await api.listProfiles(everyProfile)).items.map(({ nickname }) => nickname)),
    turns: (project) =>
      quietly(async (api) => {
        const { items: turns } = await api.listTurns({ project, query: { limit: newest } });
        return turns.map(({ agent, number }) => `${agent}:${number}`).reverse();
      }),
    messages: (project) =>
      quietly(async (api) => {
        const { items: messages } = await api.listMessages({ project, query: { limit: newest } });
        return messages.reverse().map(({ seq, sender, body }) => ({
          word: String(seq),
          meaning: cut(`${sender}: ${oneLine(body.slice(0, 200))}`, 60),
        }));
      }),
  };
}

const everyProfile = { query: { limit: 1000 } };

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)];
}
