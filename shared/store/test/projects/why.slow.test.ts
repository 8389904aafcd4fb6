import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NextRequest } from '@suzumio/contract/model/next-request';
import type { WhyCode, WhyReason } from '@suzumio/contract/model/why';
import { allOperations } from '@suzumio/contract/operations/operations';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { turnJobId } from '@suzumio/protocol/turn-job';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';
import type { Transport } from '@suzumio/runtime/queue/transport';
import { defaultStorageLimits } from '@suzumio/contract/model/storage';
import { storageReached } from '@suzumio/store/content/storage';
import { readAgent } from '@suzumio/store/projects/agents';
import { readProjectFacts } from '@suzumio/store/projects/why';
import { startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { noteHandler } from '@suzumio/store/turns/note-handler';
import { pauseAgent, pauseProject } from '@suzumio/store/protection/pause';
import { stopProject } from '@suzumio/store/projects/project-transitions';
import { endByFailure } from '@suzumio/store/turns/fail-attempt';
import { attemptRow, turnRow } from '@suzumio/store/rows';
import { whyReasons } from '@suzumio/core/why/reasons';
import { entryOf, teamYaml } from '../../../../test/support/cell.js';
import { leaseMs, type Team, teams } from '../team.js';

const good: WorkerPresence = {
  worker: 'w1',
  slots: 2,
  state: 'ready',
  backends: ['docker'],
  images: ['suzumio-runner:dev'],
};

let transport: Transport;
const services: (() => Promise<void>)[] = [];
beforeEach(() => {
  transport = createInProcessTransport({ logger: silentLogger() });
});
afterEach(async () => {
  for (const leave of services.splice(0)) await leave();
  await transport.close();
});

// After the services have left: what is made by it is removed in its turn.
const makeTeam = teams();

/** A team whose cell has a scheduler, a ToolHost and, unless told otherwise, a worker that can run its turns. */
async function team({ yaml = teamYaml, workers = [good] }: { yaml?: string; workers?: WorkerPresence[] } = {}) {
  const made = await makeTeam(yaml);
  for (const service of ['scheduler', 'toolhost']) {
    const identity = { service, cell: made.testing.cell.id, transport: 'test' };
    services.push(await made.testing.cell.catalog.processes.enlist(identity));
  }
  for (const worker of workers) await transport.announce(worker);
  return made;
}

/** Why, in words; the request beside each command is checked. */
async function why(of: Team, agent: string, limits = defaultStorageLimits) {
  const reasons = await reasonsOf(of, agent, limits);
  return reasons.map(({ request, ...told }) => {
    if (request !== null) assertAskable(request);
    return told;
  });
}

/** Whether a request is one of the API's, once a person has said what it asks for. */
function assertAskable({ operation: id, params, asks }: NextRequest): void {
  const operation = allOperations.find((one) => one.id === id);
  if (!operation) throw new Error(`there is no operation ${id}`);
  const { query = {}, body = {}, ...named } = params;
  expect(Object.keys(named).sort()).toEqual([...operation.path.matchAll(/:(\w+)/g)].map(([, name]) => name).sort());
  operation.query?.parse(query);
  const said: Record<string, unknown> = { body: 'Please.', name: 'desk', usd: 1, tokens: 1, turns: 1 };
  operation.body?.parse({ ...(body as object), ...Object.fromEntries(asks.map((name) => [name, said[name]])) });
}

async function reasonsOf(of: Team, agent: string, limits: typeof defaultStorageLimits): Promise<WhyReason[]> {
  const { cell } = of.testing;
  const facts = readProjectFacts(of.store.reader, of.store.config, readAgent(of.store.reader, agent), {
    nowMs: of.nowMs,
    storageReached: storageReached(of.store.reader, limits),
  });
  const { turn } = facts;
  const jobsAhead =
    turn && !turn.running && turn.delivery !== null
      ? await transport.turnJobsAhead({ cell: cell.id, epoch: 1, turn: turn.id, delivery: turn.delivery })
      : undefined;
  const fleet = { workers: await transport.fleet(), jobsAhead };
  return whyReasons(facts, { id: cell.id, ...cell.catalog.factsFor(of.project), fleet }, of.nowMs);
}

const codes = async (of: Team, agent: string): Promise<WhyCode[]> => (await why(of, agent)).map(({ code }) => code);

/** Puts an agent's queued turn on the queue, as a scheduler does. */
async function deliver(of: Team, agent: string): Promise<string> {
  const turn = of.activeTurn(agent) ?? '';
  const job = await of.write((tx) => deliverTurn(tx, turn, turnRow(tx, turn).delivery));
  if (!job) throw new Error('there was nothing to deliver');
  await transport.addTurnJob({ cell: of.testing.cell.id, ...job });
  return turnJobId({ cell: of.testing.cell.id, ...job });
}

describe('an agent', () => {
  test('without mail is quiet for that', async () => {
    const here = await team();
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'no-mail',
        sentence: 'It has no unread mail, and only mail starts a turn.',
        next: 'send team ada P1 "…"',
      },
    ]);
  });

  test('with mail and nothing in its way is about to start', async () => {
    const here = await team();
    await here.mail('ada');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'about-to-start',
        sentence: 'It has 1 unread message, and nothing is in the way: it is about to start.',
        next: 'watch team',
      },
    ]);
  });

  test('that works says in which turn, on which worker, since when', async () => {
    const here = await team();
    await here.work('ada');
    await here.mail('ada');
    here.advance(4_000);
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'working',
        sentence:
          'It works: turn 1 runs on w1 since 20:00:00 UTC (4 s ago). Its 1 unread message will be in the next turn.',
        next: 'logs team ada --follow',
      },
    ]);
    await here.write((tx) => stopAgent(tx, 'ada', 'test', { now: false }));
    expect(await codes(here, 'ada')).toEqual(['working', 'stopping']);
  });

  test('that works says how much of its mail fits into the next turn', async () => {
    const here = await team();
    await here.work('ada');
    for (let number = 0; number < 21; number += 1) await here.mail('ada');
    const [working] = await why(here, 'ada');
    expect(working?.sentence).toContain('At most 20 of its 21 unread messages will be in the next turn.');
  });

  test('whose worker has gone silent says so', async () => {
    const here = await team();
    await here.work('ada');
    here.advance(leaseMs + 1_000);
    // Its clock has left the services behind, too: whether it works is what is not known.
    const reasons = await why(here, 'ada');
    expect(reasons.map(({ code }) => code)).toEqual([
      'scheduler-missing',
      'toolhost-missing',
      'working',
      'worker-silent',
    ]);
    expect(reasons[2]?.sentence).toMatch(/^Turn 1 was running on .*; whether it still runs is not known\.$/);
  });

  test('that failed says how, and how to go on', async () => {
    const here = await team();
    await here.fail(await here.work('ada'), 'time-limit', 'The time limit (1 s) is reached.');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'agent-failed',
        sentence: 'It failed in turn 1, attempt 1: time-limit: The time limit (1 s) is reached.',
        next: 'agents retry team ada',
      },
      {
        code: 'no-mail',
        sentence:
          'It has no unread mail, and only mail starts a turn. 1 message that it read in turns which failed or were cancelled is undelivered.',
        next: 'inbox team ada --undelivered',
      },
    ]);
  });

  test('that was stopped, and started again', async () => {
    const here = await team();
    await here.mail('ada');
    await here.write((tx) => stopAgent(tx, 'ada', 'test', { now: false }));
    expect(await why(here, 'ada')).toMatchObject([{ code: 'agent-stopped', next: 'agents start team ada' }]);
    await here.write((tx) => startAgent(tx, 'ada', 'test'));
    expect(await codes(here, 'ada')).toEqual(['about-to-start']);
  });
});

describe('a pause', () => {
  test('of the agent, the project or the cell is named, with who and why', async () => {
    const here = await team();
    await here.mail('ada');
    await here.write((tx) => pauseAgent(tx, 'ada', { actor: 'ann', reason: 'Wait for the data.' }));
    await here.write((tx) => pauseProject(tx, { actor: 'bob' }));
    await here.testing.cell.catalog.pause.begin('eve', 'Maintenance.');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'cell-paused',
        sentence: 'Every project is paused by eve since 2026-11-21 20:00:00 UTC: Maintenance.',
        next: 'resume --all',
      },
      {
        code: 'project-paused',
        sentence: 'The project is paused by bob since 2026-11-21 20:00:00 UTC.',
        next: 'resume team',
      },
      {
        code: 'agent-paused',
        sentence: 'It is paused by ann since 2026-11-21 20:00:00 UTC: Wait for the data.',
        next: 'resume team ada',
      },
    ]);
  });

  test('by the limit on turns of an hour is told from one by a person', async () => {
    const here = await team({ yaml: teamYaml.replace('role: writer,', 'role: writer, maxTurnsPerHour: 1,') });
    await here.complete(await here.work('ada'));
    await here.mail('ada');
    await here.schedule();
    expect(await why(here, 'ada')).toMatchObject([{ code: 'turns-per-hour', next: 'resume team ada' }]);
  });
});

describe('a project', () => {
  test.each([
    ['initialized', 'project-initialized', 'start team'],
    ['stopped', 'project-stopped', 'start team'],
    ['submitted', 'project-submitted', 'report team'],
    ['completed', 'project-completed', 'request-changes team ada "…"'],
  ])('that is %s holds its agents up', async (status, code, next) => {
    const here = await team();
    const writer = status === 'initialized' || status === 'stopped' ? undefined : await here.work('ben');
    if (writer) await here.submit(writer, 'ben');
    if (writer) await here.complete(writer);
    if (status === 'completed') await here.approve();
    if (status === 'stopped') await here.write((tx) => stopProject(tx, 'test', { now: false }));
    if (status === 'initialized') await here.write((tx) => tx.run(`UPDATE projects SET status = 'initialized'`));
    await here.mail('ada');
    expect((await why(here, 'ada')).map((reason) => [reason.code, reason.next])).toEqual([[code, next]]);
  });

  test('that may store no more rows says whose quota that is, before it has mail and when that waits', async () => {
    const here = await team();
    await here.complete(await here.work('ada'));
    const full = { ...defaultStorageLimits, agent: { files: 1_000_000, rows: 1 } };
    const reason = {
      code: 'storage-reached',
      sentence: expect.stringMatching(/^Agent ada has stored .*policy: storage\.agent\.rows/) as unknown,
      next: 'usage team',
    };
    expect((await why(here, 'ada', full)).map(({ code }) => code)).toEqual(['storage-reached', 'no-mail']);
    await here.mail('ada');
    expect(await why(here, 'ada', full)).toEqual([reason]);
    expect((await why(here, 'ben', full)).map(({ code }) => code)).not.toContain('storage-reached');
  });

  test('whose budget is used up says by what', async () => {
    const here = await team();
    await here.complete(await here.work('ada'));
    await here.write((tx) => changeBudget(tx, 'ada', { turns: 1 }, 'test'));
    await here.mail('ada');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'budget-reached',
        sentence: 'No turn begins: The budget of ada of 1 turn is used up.',
        next: 'budget team --agent ada --turns N',
      },
    ]);
  });

  test('that runs as many turns as it may lets an agent wait', async () => {
    const here = await team({ yaml: `${teamYaml}scheduler: { maxConcurrentTurns: 1 }\n` });
    await here.work('ben');
    await here.mail('ada');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'concurrency-limit',
        sentence:
          'The project runs 1 turn at a time (scheduler.maxConcurrentTurns), and 1 is queued or running: its turn comes when one has ended.',
        next: 'turns team',
      },
    ]);
  });
});

test('an agent that works says, too, that it is paused after that', async () => {
  const here = await team();
  await here.work('ada');
  await here.write((tx) => pauseAgent(tx, 'ada', { actor: 'system', reason: 'It loops.' }));
  expect((await why(here, 'ada')).map(({ code }) => code)).toEqual(['working', 'agent-paused']);
});

describe('a turn that waits', () => {
  test('after a failure says until when, and for what', async () => {
    const here = await team();
    await here.fail(await here.work('ada'), 'container-start-failed', 'No such thing.');
    const [reason] = await why(here, 'ada');
    expect(reason).toMatchObject({ code: 'backoff', next: 'turns show team ada:1' });
    expect(reason?.sentence).toMatch(
      /^Turn 1 is tried again at 20:00:\d\d UTC \(in \d+ m?s\) after container-start-failed \(No such thing\.\)\.$/,
    );
  });

  test('for a provider says for which, and until when', async () => {
    const here = await team();
    const { turn, attempt } = await here.work('ada');
    const { untilMs } = await here.testing.cell.catalog.circuits.failed(
      { circuit: 'models.test#01234567/big-1', project: 'another', call: 'call-1' },
      { opensFor: 'all', error: 'Too many requests.' },
    );
    await here.write((tx) => {
      const row = attemptRow(tx, turn, attempt);
      if (!row) throw new Error('the attempt is gone');
      const failure = { code: 'provider-unavailable' as const, message: 'Too many requests.' };
      endByFailure(tx, turnRow(tx, turn), row, failure, { wait: { provider: 'models.test#01234567/big-1', untilMs } });
    });
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'provider-away',
        sentence:
          'Turn 1 waits for model big-1 of the provider models.test, which is away until 20:00:10 UTC (in 10 s) after provider-unavailable (Too many requests.).',
        next: 'watch team',
      },
    ]);
    await here.testing.cell.catalog.circuits.answered('models.test#01234567/big-1');
    expect(await codes(here, 'ada')).toEqual(['about-to-start']);
  });

  test('of a project that waits behind others says behind how many', async () => {
    const here = await team();
    await here.mail('ada');
    await here.schedule();
    const { catalog } = here.testing.cell;
    for (const project of ['first', 'second', 'team']) {
      if (project !== 'team') await catalog.projects.add(project, entryOf('running'));
      await catalog.waitingLine.join(project);
    }
    expect(await why(here, 'ada')).toMatchObject([
      {
        code: 'queued-behind',
        sentence: 'Turn 1 is queued behind 2 other projects that get a slot first; 1 worker runs 2 at a time.',
      },
    ]);
  });

  test('behind others says behind how many', async () => {
    const here = await team();
    for (const agent of ['ada', 'ben', 'cat']) await here.mail(agent);
    await here.schedule();
    // The scheduler holds back what the fleet cannot run yet.
    const [first, second, third] = here
      .rows<{ agent: string }>(`SELECT agent_id AS agent FROM turns ORDER BY priority, queued_at_ms, id`)
      .map(({ agent }) => agent);
    if (!first || !second || !third) throw new Error('three turns are queued');
    expect(await why(here, third)).toMatchObject([
      { code: 'queued-behind', sentence: 'Turn 1 is queued behind 2 turns of the project; 1 worker runs 2 at a time.' },
    ]);
    await deliver(here, first);
    await deliver(here, second);
    expect(await why(here, first)).toMatchObject([
      { code: 'waiting-for-slot', sentence: 'Turn 1 is the next to get a slot; 1 worker runs 2 at a time.' },
    ]);
    expect(await why(here, second)).toMatchObject([
      { code: 'queued-behind', sentence: 'Turn 1 is queued behind 1 turn; 1 worker runs 2 at a time.' },
    ]);
  });
});

describe('the control plane', () => {
  test('without a scheduler or a ToolHost says when there was one', async () => {
    const here = await team();
    await here.mail('ada');
    here.advance(60_000);
    expect(await why(here, 'ada')).toMatchObject([
      {
        code: 'scheduler-missing',
        sentence: 'No scheduler runs; the last was heard of at 20:00:00 UTC (60 s ago): nobody starts turns for mail.',
        next: 'serve',
      },
      { code: 'toolhost-missing' },
    ]);
    for (const leave of services.splice(0)) await leave();
    expect(await why(here, 'ada')).toMatchObject([
      { code: 'scheduler-missing', sentence: 'No scheduler runs: nobody starts turns for mail.' },
      { code: 'toolhost-missing', sentence: 'No ToolHost runs: nobody gives turns to workers.' },
    ]);
  });

  test('without its queue says that', async () => {
    const here = await team();
    await here.mail('ada');
    const { cell } = here.testing;
    const facts = readProjectFacts(here.store.reader, here.store.config, readAgent(here.store.reader, 'ada'), {
      nowMs: here.nowMs,
      storageReached: [],
    });
    const reasons = whyReasons(
      facts,
      { id: cell.id, ...cell.catalog.factsFor(here.project), fleet: 'away' },
      here.nowMs,
    );
    expect(reasons).toMatchObject([{ code: 'queue-away', next: 'doctor' }]);
  });
});

describe('the fleet', () => {
  test.each<[string, WorkerPresence[], WhyCode, RegExp]>([
    ['without a worker', [], 'worker-missing', /^No worker is connected: /],
    [
      'whose workers serve other cells',
      [{ ...good, cells: ['west'] }],
      'worker-missing',
      /^No worker is connected; 1 worker serves other cells only: /,
    ],
    [
      'whose workers run other backends',
      [{ ...good, backends: ['process'] }],
      'backend-missing',
      /^1 worker is connected, but none runs turns with the backend docker: /,
    ],
    [
      'none of which has the image',
      [good, { ...good, worker: 'w2' }].map((worker) => ({ ...worker, images: ['other:dev'] })),
      'image-missing',
      /^2 workers are connected, but none has the image suzumio-runner:dev: /,
    ],
    [
      'that drains, every one of it',
      [{ ...good, slots: 0, state: 'draining' }],
      'workers-draining',
      /^1 worker is connected, but it is draining: /,
    ],
    [
      'that cannot run turns',
      [{ ...good, slots: 0, state: 'not-ready', problem: 'engine-unreachable' }],
      'workers-not-ready',
      /^1 worker is connected, but none can run turns now \(engine-unreachable\)\.$/,
    ],
  ])('%s', async (_which, workers, code, sentence) => {
    const here = await team({ workers });
    await here.mail('ada');
    expect(await why(here, 'ada')).toMatchObject([{ code, sentence: expect.stringMatching(sentence) }]);
    // It is the same for a turn that is queued already.
    await here.schedule();
    expect(await codes(here, 'ada')).toEqual([code]);
    await transport.announce({ ...good, worker: 'fit' });
    expect(await codes(here, 'ada')).toEqual(['about-to-start']);
  });

  test('is not blamed for what its workers do not say', async () => {
    const here = await team({ workers: [{ worker: 'old', slots: 1 }] });
    await here.mail('ada');
    expect(await codes(here, 'ada')).toEqual(['about-to-start']);
  });
});

describe('an external agent', () => {
  const yaml = teamYaml.replace('role: writer,', 'role: writer, backend: external,');

  test('waits for a handler that is not there, and for one that is', async () => {
    const here = await team({ yaml, workers: [] });
    await here.mail('ada');
    expect(await why(here, 'ada')).toEqual([
      {
        code: 'handler-missing',
        sentence:
          'Its turns are run by a handler of your own (backend: external), and none is connected: none has asked yet.',
        next: 'tokens create NAME --scope handler --project team --agents ada',
      },
    ]);
    await here.write((tx) => noteHandler(tx, 'desk', ['ada']));
    await here.schedule();
    here.advance(4_000);
    expect(await why(here, 'ada')).toMatchObject([
      {
        code: 'waiting-for-handler',
        sentence: 'Turn 1 waits for its handler desk, which asked for work 4 s ago.',
      },
    ]);
    here.advance(600_000);
    expect((await why(here, 'ada')).find(({ code }) => code === 'handler-missing')?.sentence).toMatch(
      /the last, desk, asked at 20:00:00 UTC \(10 min ago\)\.$/,
    );
  });
});

test('who is not there is refused', async () => {
  const here = await team();
  await expect(why(here, 'dan')).rejects.toMatchObject({ code: 'agent-unknown' });
});
