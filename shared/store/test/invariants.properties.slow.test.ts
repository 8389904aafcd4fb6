import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { resetAgent, startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { type TaskMove, taskMoves } from '@suzumio/contract/model/task-states';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startProject, stopProject } from '@suzumio/store/projects/project-transitions';
import { expireLease, extendLease } from '@suzumio/store/turns/leases';
import { redeliverMessage } from '@suzumio/store/mail/redeliver-message';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import type { Tx } from '@suzumio/store/sqlite/tx';
import fc, { caseCount } from '../../../test/support/fast-check.js';
import { teamYaml, type TestCell, testCell } from '../../../test/support/cell.js';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import { type Begun, hashes, leaseMs, makeTeam, type Team } from './team.js';

const agents = ['ada', 'ben', 'cat'] as const;
const agent = fc.constantFrom(...agents);
/** Two of a team that share a role, and one of none. */
const rosterYaml = teamYaml
  .replace('role: reader', 'role: reader, team: desk')
  .replace('role: watcher', 'role: reader, team: desk');
const sender = fc.constantFrom(...agents, 'user');
const team = fc.constantFrom('desk', 'all', undefined);
const address = fc.oneof(
  fc.record({ recipient: fc.constantFrom(...agents, 'user') }),
  fc.record({ channel: fc.constantFrom('#team', '#pair') }),
);
/** The newest attempt or one before it, whether it still runs or not: a worker that was thought dead may speak. */
const attempt = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 9 }) });
const code = fc.constantFrom('container-vanished', 'image-missing', 'non-zero-exit', 'provider-unavailable');

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('work'), agent }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('mail'), address, priority: fc.constantFrom('P0', 'P1', 'P3') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('broadcast'), sender, team }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('assign'), sender, team, role: fc.constantFrom('reader', 'writer') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer task'),
      nth: fc.nat({ max: 5 }),
      move: fc.constantFrom(...taskMoves),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('reply'),
      nth: fc.nat({ max: 30 }),
      sender,
      address: fc.option(address, { nil: undefined }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('schedule') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('claim'), agent, again: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('call'), attempt, step: fc.nat({ max: 3 }), ends: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('complete'), attempt }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fail'), attempt, code }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('expire'), attempt }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('beat'), attempt }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('deliver'), agent }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance'), ms: fc.constantFrom(1, 1_000, leaseMs, 90_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('retry'), agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset'), agent, again: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('redeliver'), attempt }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop agent'), agent, now: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('start agent'), agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('submit'), attempt }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('approve') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('request changes'), agent }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop'), now: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('start') }) },
);
type Step = Partial<{
  address: { recipient?: string; channel?: string } | undefined;
  sender: string;
  team: string | undefined;
  role: string;
  nth: number;
  move: TaskMove;
  priority: 'P0' | 'P1' | 'P3';
  agent: string;
  again: boolean;
  attempt: number;
  step: number;
  ends: boolean;
  code: 'container-vanished' | 'image-missing' | 'non-zero-exit' | 'provider-unavailable';
  ms: number;
  now: boolean;
}> & { do: string };

/** A project and everything that its workers have ever been told. */
class World {
  readonly attempts: Begun[] = [];
  readonly #claims = new Map<string, string>();
  #words = 0;

  constructor(readonly of: Team) {}

  async take(next: Step): Promise<unknown> {
    const { of } = this;
    const id = this.attempts.at(-1 - ((next.attempt ?? 0) % Math.max(1, this.attempts.length)));
    const named = next.agent ?? 'ada';
    switch (next.do) {
      case 'mail':
        return of.write((tx) =>
          postMessage(tx, { sender: 'user', priority: 'P1', body: 'Go.', actor: 'test', ...next.address }),
        );
      case 'broadcast':
        return of.write((tx) => broadcast(tx, { ...this.#said(next.sender), team: next.team }));
      case 'assign':
        return of.write((tx) =>
          assignTask(tx, { ...this.#said(next.sender), role: next.role ?? 'reader', team: next.team }),
        );
      case 'reply':
        return of.write((tx) =>
          replyToMessage(tx, { ...this.#said(next.sender), message: String((next.nth ?? 0) + 1), ...next.address }),
        );
      case 'answer task':
        return of.write((tx) => this.#answerTask(tx, next));
      case 'work':
        await of.mail(named);
        await of.schedule();
        return this.#claim(named, false);
      case 'schedule':
        return of.schedule();
      case 'claim':
        return this.#claim(named, next.again ?? false);
      case 'deliver':
        return of.write((tx) => deliverTurn(tx, of.activeTurn(named) ?? '', 0));
      case 'advance':
        of.advance(next.ms ?? 0);
        return undefined;
      case 'retry':
        return of.write((tx) => retryTurn(tx, named, 'test'));
      case 'reset':
        return of.write((tx) => resetAgent(tx, named, 'test', { redeliver: next.again ?? false }));
      case 'redeliver':
        return of.write((tx) => redeliverMessage(tx, String((next.attempt ?? 0) + 1), { actor: 'test' }));
      case 'cancel':
        return of.write((tx) => cancelActiveTurn(tx, of.activeTurn(named) ?? '', 'test'));
      case 'stop agent':
        return of.write((tx) => stopAgent(tx, named, 'test', { now: next.now ?? false }));
      case 'start agent':
        return of.write((tx) => startAgent(tx, named, 'test'));
      case 'approve':
        return of.approve();
      case 'request changes':
        return of.requestChanges(named);
      case 'stop':
        return of.write((tx) => stopProject(tx, 'test', { now: next.now ?? false }));
      case 'start':
        return of.write((tx) => startProject(tx, 'test'));
    }
    if (!id) return undefined;
    switch (next.do) {
      case 'call':
        return this.#call(id, next.step ?? 0, next.ends ?? false);
      case 'complete':
        return of.complete(id);
      case 'fail':
        return of.fail(id, next.code ?? 'container-vanished');
      case 'expire':
        return of.write((tx) => expireLease(tx, id));
      case 'beat':
        return of.write((tx) => extendLease(tx, id, leaseMs));
      case 'submit':
        return of.submit(id, 'ada');
      default:
        throw new Error(next.do);
    }
  }

  async #claim(named: string, again: boolean): Promise<void> {
    const turn = this.of.activeTurn(named);
    if (turn === null) return;
    const earlier = again ? this.#claims.get(turn) : undefined;
    const claimId = earlier ?? `${turn} ${String(this.attempts.length)}`;
    const claimed = await this.of.claim(turn, { claimId });
    if (typeof claimed === 'string') return;
    this.#claims.set(turn, claimId);
    this.attempts.push({ turn, attempt: claimed.attempt });
  }

  /** What nobody else says. */
  #said(sender = 'user') {
    this.#words += 1;
    return { sender, priority: 'P1' as const, body: `Word ${String(this.#words)}.`, actor: 'test' };
  }

  #answerTask(tx: Tx, { nth = 0, move }: Step) {
    const tasks = tx.all<{ message_id: string; assignee: string }>('SELECT message_id, assignee FROM tasks');
    const task = tasks[nth % Math.max(1, tasks.length)];
    return task && replyToMessage(tx, { ...this.#said(task.assignee), message: task.message_id, task: move });
  }

  /** A call that takes effect says so once and for all: its message is unlike any other. */
  #call(id: Begun, at: number, ends: boolean) {
    const sender = this.of.rows<{ agent: string }>(`SELECT agent_id AS agent FROM turns WHERE id = '${id.turn}'`)[0];
    const change = {
      step: `${String(at)}.0`,
      tokenHash: hashes(id.attempt).tool,
      requestHash: `${String(at)} ${String(ends)}`,
    };
    return this.of.call(id, sender?.agent ?? 'ada', change, (tx) => {
      const body = `${id.turn} ${String(at)}`;
      postMessage(tx, { sender: sender?.agent ?? 'ada', recipient: 'user', priority: 'P1', body, actor: 'ada' });
      return { output: body, ...(ends ? { endTurn: true } : {}) };
    });
  }
}

describe('whatever happens to a project', () => {
  let testing: TestCell;
  let projects = 0;
  beforeAll(async () => {
    testing = await testCell();
  });
  afterAll(() => testing.close());
  const world = async () => {
    projects += 1;
    const project = await testing.create(rosterYaml.replace('name: team', `name: team-${String(projects)}`));
    return new World(await makeTeam(testing, project));
  };

  test('its invariants hold after every step, and nothing takes effect twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 20, maxLength: 40 }),
        async (batches) => {
          const made = await world();
          for (const batch of batches) {
            // Steps that are taken at once share a transaction.
            const outcomes = await Promise.allSettled(batch.map((next) => made.take(next as Step)));
            for (const outcome of outcomes) {
              if (outcome.status === 'rejected' && !isSuzumioError(outcome.reason)) throw outcome.reason;
            }
            expect(contradictionsIn(made.of.store.reader)).toEqual({});
          }
          expect(
            made.of.rows(`SELECT body FROM messages WHERE sender <> 'user' GROUP BY body HAVING count(*) > 1`),
          ).toEqual([]);
        },
      ),
      { numRuns: caseCount(40) },
    );
  });

  test('once it runs and is left in peace, all mail is read or waits for an agent that failed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const made = await world();
        const { of } = made;
        for (const next of steps) {
          await made.take(next as Step).catch((error: unknown) => {
            if (!isSuzumioError(error)) throw error;
          });
        }
        if (of.status === 'submitted' || of.status === 'completed') await of.requestChanges('ada');
        if (of.status === 'stopped') await made.take({ do: 'start' });
        for (const { id } of of.rows<{ id: string }>(`SELECT id FROM agents WHERE state = 'stopped' OR stopping = 1`)) {
          await made.take({ do: 'start agent', agent: id });
        }
        for (let round = 0; round < 100; round += 1) {
          of.advance(24 * 3_600_000);
          for (const id of made.attempts) await of.write((tx) => expireLease(tx, id));
          await of.schedule();
          const waiting = of.rows<{ agent: string }>(`SELECT agent_id AS agent FROM turns WHERE status = 'queued'`);
          if (waiting.length === 0) break;
          for (const { agent: named } of waiting) {
            await made.take({ do: 'claim', agent: named });
            const id = made.attempts.at(-1);
            if (id && of.turn(id.turn)?.status === 'running') await of.complete(id);
          }
        }
        const left = of.rows<{ state: string }>(
          'SELECT DISTINCT state FROM agents JOIN inbox ON recipient = agents.id',
        );
        expect(left.filter(({ state }) => state !== 'failed')).toEqual([]);
        expect(of.rows(`SELECT id FROM turns WHERE status IN ('queued', 'running')`)).toEqual([]);
        expect(contradictionsIn(of.store.reader)).toEqual({});
      }),
      { numRuns: caseCount(25) },
    );
  });
});
