import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectEvent } from '@suzumio/contract/model/event';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { Policy } from '@suzumio/core/policy/policy';
import type { Cell } from '@suzumio/store/cell/cell';
import { dollars } from '@suzumio/core/budgets/model-cost';
import { projectUsage } from '@suzumio/store/budgets/usage';
import { checkDocker } from '@suzumio/turn-worker';
import { type ExitCode, exitCodes } from '../exit-codes.js';
import { hostPolicy } from '../host-policy.js';
import { installation } from './installation.js';
import { followTimeline } from '../live-timeline.js';
import { createFrom } from '../project-file.js';
import type { ApiClient } from '../reach/api-client.js';
import { requireApi } from '../reach/reach.js';
import { count } from '../render/format.js';
import { createSession, say, sayNext, type Session } from '../session.js';
import { refuseOptions } from '../usage-error.js';
import { type DemoModelOptions, withDemoModel } from './demo-model.js';
import { pairsOf } from '../providers/provider-pair.js';
import { endTurnsOnInsistence, interruption, pageOf, untilEnd } from './serve.js';
import { type Stack, startStack } from './stack.js';

type Backend = ProjectConfig['backend']['kind'];

/** What the person says in this example; the script of the newsroom answers to these words. */
const request = "Tonight's bulletin, please.";
const change = 'Please add when the north gauge rose fastest.';

const playedWithinMs = 150_000;
/** A model on a laptop may take minutes for an answer. */
const thoughtWithinMs = 30 * 60_000;
const reportLines = 12;

export interface DemoOptions extends DemoModelOptions {
  /** Whether a model thinks; without, a script is played. */
  ai: boolean;
}

/** Runs the newsroom example from its first message to the approved report. */
export async function demo(asked: Session, options: DemoOptions): Promise<ExitCode> {
  if (!options.ai) {
    const { baseUrl, model, price, budget } = options;
    const given = {
      '--base-url': baseUrl !== undefined,
      '--model': model !== undefined,
      '--price': price !== undefined,
      '--budget': budget !== undefined,
    };
    refuseOptions(given, 'is about a model: say --ai, too.');
  }
  const session = await withDataDirectory(asked);
  const loaded = loadDemo(options, session);
  const backend = await chooseBackend(session, loaded.config.backend.image);
  say(session, `The newsroom in ${session.root}`);
  const stack = await startStack({
    root: session.root,
    host: '127.0.0.1',
    port: 0,
    scheduler: true,
    policy: demoPolicy(session, loaded, backend),
    environment: session.context.env,
  });
  endTurnsOnInsistence(session, stack);
  try {
    const project = await createDemo(stack.cell, loaded, backend);
    const api = await requireApi(session);
    say(session, `page:   ${await pageOf(session, stack)}`, '');
    await api.startProject({ project });
    await play(session, api, project, options.ai ? thoughtWithinMs : playedWithinMs);
    await sayOutcome(session, api, project);
    if (options.ai) await sayCost(session, project, stack.cell);
    await showPage(session, stack);
  } catch (error) {
    say(session, '', `The demo did not get to its end; the services' log is ${stack.logFile}.`);
    throw error;
  } finally {
    await stack.stop();
  }
  return exitCodes.ok;
}

function loadDemo(options: DemoOptions, { context }: Session): LoadedProject {
  if (!options.ai) return loadProjectFile(installation.demoProject, { env: {} });
  const loaded = loadProjectFile(installation.demoAiProject, { env: {} });
  return { ...loaded, config: withDemoModel(loaded.config, options, context.env) };
}

/** The directory that was asked for, or a new one that stays. */
async function withDataDirectory(asked: Session): Promise<Session> {
  const { context } = asked;
  const { env } = context;
  if ((env.SUZUMIO_ROOT ?? '') !== '' || asked.root !== createSession(context, {}).root) return asked;
  return createSession(context, { root: await mkdtemp(join(tmpdir(), 'suzumio-demo-')) });
}

/** The demo is part of this installation: what it needs is allowed, and where no engine answers, processes. */
function demoPolicy(session: Session, { config }: LoadedProject, backend: Backend): Policy {
  const policy = hostPolicy(session);
  const providers = [...pairsOf(config).values()].map((pair) => ({ ...pair, ownPrices: true }));
  return {
    ...policy,
    backends: [backend],
    images: [...policy.images, config.backend.image],
    providers: [...policy.providers, ...providers],
  };
}

async function chooseBackend(session: Session, image: string): Promise<Backend> {
  const { problem } = await checkDocker({ image, environment: session.context.env });
  if (problem === undefined) return 'docker';
  say(session, `Turns run as processes of this machine, without isolation: ${problem.message}`);
  return 'process';
}

/** Makes the project under a name that is free, so that a data directory may see several demos. */
async function createDemo(cell: Cell, { config, sourceText }: LoadedProject, kind: Backend): Promise<string> {
  const taken = new Set(cell.catalog.projects.all().map(({ id }) => id));
  let name = config.name;
  for (let number = 2; taken.has(name); number++) name = `${config.name}-${number}`;
  await createFrom(cell, { sourceText, config: { ...config, name, backend: { ...config.backend, kind } } });
  return name;
}

/**
 * The person's part: asks for the bulletin, sends the first version back, approves the second; both when the turn that
 * submitted has ended, as a person would not be faster.
 */
async function play(session: Session, api: ApiClient, project: string, approvedWithinMs: number): Promise<void> {
  const giveUp = new AbortController();
  const failures: unknown[] = [];
  const acts: Promise<unknown>[] = [];
  const act = (command: string, call: Promise<unknown>) => {
    say(session, `-- you:   ${command}`);
    acts.push(
      call.catch((error: unknown) => {
        failures.push(error);
        giveUp.abort();
      }),
    );
  };
  const submissions = new Set<string>();
  const outcome = { approved: false };
  /** The demo stops at an exhausted budget: no one is there to raise it. */
  const stopWhereSpent = async () => {
    const [reached] = (await api.getProject({ project })).budgetsReached;
    if (!reached) return;
    failures.push(new SuzumioError('internal', reached.message));
    giveUp.abort();
  };
  const onEvent = ({ type, agent, turn, data }: ProjectEvent): boolean => {
    if (type === 'turn.failed') {
      failures.push(new SuzumioError('internal', `A turn of ${agent ?? 'an agent'} failed: ${data.message}`));
    }
    if (type === 'project.submitted' && turn !== null) submissions.add(turn);
    if (type === 'turn.completed' && turn !== null && submissions.has(turn)) {
      if (submissions.size === 1) {
        act(
          `suzumio request-changes ${project} editor "${change}"`,
          api.requestChanges({ project, body: { recipient: 'editor', body: change } }),
        );
      } else act(`suzumio approve ${project}`, api.approveProject({ project }));
    }
    if (type === 'project.completed') outcome.approved = true;
    if (submissions.size < 2 && (type === 'turn.completed' || type === 'turn.requeued')) acts.push(stopWhereSpent());
    return outcome.approved || failures.length > 0;
  };
  const outOfTime = setTimeout(() => giveUp.abort(), approvedWithinMs);
  try {
    const message = { recipient: 'editor', priority: 'P1', body: request } as const;
    act(`suzumio send ${project} editor P1 "${request}"`, api.sendMessage({ project, body: message }));
    const signal = AbortSignal.any([session.context.interrupted, giveUp.signal]);
    await followTimeline(session, api, {
      project,
      history: undefined,
      hints: false,
      shown: { quiet: true },
      onEvent,
      signal,
    });
  } finally {
    clearTimeout(outOfTime);
    await Promise.all(acts);
  }
  if (failures.length > 0) throw failures[0];
  if (outcome.approved) return;
  const why = session.context.interrupted.aborted
    ? 'was interrupted'
    : `was not approved within ${approvedWithinMs / 1000} s`;
  throw new SuzumioError('internal', `${project} ${why}.`);
}

async function sayOutcome(session: Session, api: ApiClient, project: string): Promise<void> {
  const report = await api.getReport({ project });
  // What is stored of it has a name that says nothing to a person, and to no program that opens texts.
  const file = join(session.root, `${project}.md`);
  await writeFile(file, report, { mode: 0o600 });
  const lines = report.trimEnd().split('\n');
  say(session, '', ...lines.slice(0, reportLines).map((line) => `  | ${line}`));
  if (lines.length > reportLines) say(session, `  | … ${lines.length - reportLines} more lines`);
  say(session, '', `report: ${file}`, `data:   ${session.root}`);
  sayNext(session, `turns ${project}`, `messages ${project}`, `report ${project}`);
}

/** Whoever looks on may have opened the page meanwhile: on a terminal it goes on until they have seen it. */
async function showPage(session: Session, stack: Stack): Promise<void> {
  if (!session.context.out.isTerminal) return;
  say(session, '', `The page goes on: ${stack.url}   (Ctrl-C stops it)`);
  await interruption(untilEnd(session, stack));
}

async function sayCost(session: Session, project: string, cell: Cell): Promise<void> {
  const used = await cell.stores.use(project, (store) => Promise.resolve(projectUsage(store.reader)));
  const tokens = `${used.inputTokens} tokens in, ${used.outputTokens} out`;
  say(session, '', `cost:   ${dollars(used.nanoUsd)} (${tokens}, ${count(used.calls, 'answer')})`);
}
