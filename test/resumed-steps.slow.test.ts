import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { HttpAnswer } from '@suzumio/protocol/http-client';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { requestHash } from '@suzumio/store/journal';
import { newestCapture, recordCapture } from '@suzumio/store/turns/captures';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { beginSandboxStep, endSandboxStep, markSteps } from '@suzumio/store/turns/sandbox-steps';
import fc, { caseCount } from './support/fast-check.js';
import { SandboxSteps } from '../services/turn-worker/src/door/sandbox-steps.js';
import { type Begun, hashes, makeTeam, type Team } from '../shared/store/test/team.js';
import { teamYaml, type TestCell, testCell } from './support/cell.js';

// A turn between the worker's door and the store, interrupted between any two things that happen.

/**
 * A step adds two lines to the workspace, but for `looks`, which tells how many there are, and adds none. `reaches` reaches
 * outside between the two. `leaves` leaves a process running, which reaches outside once the step has ended. `fails` ends
 * with an error.
 */
const kinds = ['adds', 'looks', 'fails', 'reaches', 'leaves'] as const;
type PlannedStep = (typeof kinds)[number];

/** What one answer of a model asks for: steps, one after the other or all at once, and then a mail. */
interface PlannedAnswer {
  steps: PlannedStep[];
  atOnce: boolean;
  /** Whether what the mail comes to is written into the workspace. */
  writes: boolean;
}

interface Case {
  answers: PlannedAnswer[];
  /** After how many more things each attempt is interrupted; the attempt after the last goes to the end. */
  interruptions: number[];
}

const cases: fc.Arbitrary<Case> = fc.record({
  answers: fc.array(
    fc.record({
      steps: fc.array(fc.constantFrom(...kinds), { maxLength: 3 }),
      atOnce: fc.boolean(),
      writes: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  interruptions: fc.array(fc.nat({ max: 40 }), { maxLength: 5 }),
});

class Interrupted extends Error {}

/** What outlives attempts. */
interface World {
  snapshots: Map<string, readonly string[]>;
  /** How often each step has reached outside. */
  outside: Map<string, number>;
  /** How often each mail was sent. */
  sent: Map<string, number>;
  /** What the model was told last of each step that a later call was built on. */
  told: Map<string, string>;
}

/** One attempt: a runner with its workspace, its worker's door, and the store behind. */
class Attempt {
  readonly #steps: SandboxSteps;
  #captures = 0;
  #isOver = false;

  constructor(
    private readonly team: Team,
    private readonly begun: Begun,
    private readonly world: World,
    readonly files: string[],
    /** How many more things happen. */
    private left: number,
  ) {
    this.#steps = new SandboxSteps({
      capture: async (steps) => {
        const files = [...this.files];
        const snapshot = createHash('sha256').update(JSON.stringify(files)).digest('hex');
        this.world.snapshots.set(snapshot, files);
        await this.#happens();
        const number = ++this.#captures;
        await this.team.write((tx) => recordCapture(tx, this.begun, { number, snapshot, steps: [...steps] }));
        await this.#happens();
      },
      mark: async (steps) => {
        await this.#happens();
        await this.team.write((tx) => markSteps(tx, this.begun, steps));
        await this.#happens();
      },
    });
  }

  async run({ answers }: Case): Promise<Map<string, string>> {
    const results = new Map<string, string>();
    for (const [number, { steps, atOnce, writes }] of answers.entries()) {
      const take = async (kind: PlannedStep, index: number) => {
        const step = `${String(number)}.${String(index)}`;
        results.set(step, await this.#take(step, kind));
      };
      // What looks beside others sees any number of lines.
      if (atOnce) await Promise.all(steps.map((kind, index) => take(kind === 'looks' ? 'adds' : kind, index)));
      else for (const [index, kind] of steps.entries()) await take(kind, index);
      const mail = `${String(number)}.9`;
      await this.#mail(mail);
      if (writes) results.set(`${mail}/to`, await this.#take(`${mail}/to`, 'adds', hashOf(mail)));
      await this.#mail(`${String(number)}.91`);
      for (const [step, result] of results) {
        // What a call was built on stays as it was told.
        expect([step, this.world.told.get(step) ?? result]).toEqual([step, result]);
        this.world.told.set(step, result);
      }
    }
    return results;
  }

  async #take(step: string, kind: PlannedStep, hash = 'h'): Promise<string> {
    const begun = await this.#send('/tool/begin', async () => {
      const call = { ...this.#at, agent: 'ada', step, tool: 'script.run', input: keptInput({}), requestHash: hash };
      const answer = await this.team.write((tx) => beginSandboxStep(tx, call));
      return answer === 'begun' ? { step } : { result: JSON.stringify(answer.result) };
    });
    if (begun.result !== undefined) return begun.result;
    let output = `in attempt ${String(this.begun.attempt)}`;
    if (kind === 'looks') output = `${String(this.files.length)} lines`;
    else {
      this.files.push(`${step} a`);
      await this.#happens();
      if (kind === 'reaches') await this.#reachOutside(step);
      this.files.push(`${step} b`);
      await this.#happens();
    }
    const told = kind === 'fails' ? { error: { code: 'file-unknown' as const, message: output } } : { output };
    const ended = await this.#send('/tool/end', async () => {
      const { result } = await this.team.write((tx) => endSandboxStep(tx, { ...this.#at, step }, told));
      return { step, result: JSON.stringify(result) };
    });
    if (kind === 'leaves') await this.#reachOutside(step);
    return ended.result ?? '';
  }

  async #reachOutside(step: string): Promise<void> {
    await this.#steps.reachOutside();
    this.world.outside.set(step, (this.world.outside.get(step) ?? 0) + 1);
    await this.#happens();
  }

  async #mail(step: string): Promise<void> {
    await this.#send('/tool', async () => {
      const call = { step, requestHash: hashOf(step), tokenHash: this.#at.tokenHash };
      await this.team.call(this.begun, 'ada', call, (tx) => {
        tx.run(`INSERT INTO channels (name, position) VALUES (:name, (SELECT count(*) FROM channels))`, {
          name: `${this.begun.turn} ${step}`,
        });
        this.world.sent.set(step, (this.world.sent.get(step) ?? 0) + 1);
        return { output: 'sent' };
      });
      return {};
    });
  }

  /** A request through the door, which may be interrupted before and after it is carried out. */
  async #send(route: string, carryOut: () => Promise<Answer>): Promise<Answer> {
    let answer: Answer = {};
    await this.#steps.pass(route, async () => {
      await this.#happens();
      answer = await carryOut();
      await this.#happens();
      return httpAnswer(answer.step);
    });
    await this.#happens();
    return answer;
  }

  get #at() {
    return { ...this.begun, tokenHash: hashes(this.begun.attempt).tool };
  }

  async #happens(): Promise<void> {
    await Promise.resolve();
    this.#isOver ||= this.left-- <= 0;
    if (this.#isOver) throw new Interrupted();
  }
}

const hashOf = (step: string) => requestHash('messages.send', { step });

interface Answer {
  step?: string;
  result?: string;
}

function httpAnswer(step: string | undefined): HttpAnswer {
  return {
    status: 200,
    header: (name) => (name === stepHeader ? step : undefined),
    body: (async function* () {})(),
    discard: () => undefined,
  };
}

let testing: TestCell;
let team: Team;
beforeAll(async () => {
  testing = await testCell();
  const yaml = teamYaml.replace('agents:', 'turn: { maxAttempts: 100 }\nagents:');
  team = await makeTeam(testing, await testing.create(yaml));
});
afterAll(() => testing.close());

test('whenever a turn is interrupted, each step takes effect once, and what has reached outside does not do so again', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const world: World = { snapshots: new Map(), outside: new Map(), sent: new Map(), told: new Map() };
      let begun = await team.work('ada');
      const { turn } = begun;
      const filesNow = () => [...(world.snapshots.get(newestCapture(team.store.reader, turn)?.snapshot ?? '') ?? [])];
      for (const interruption of one.interruptions) {
        const attempt = new Attempt(team, begun, world, filesNow(), interruption);
        await attempt.run(one).catch((error: unknown) => {
          if (!(error instanceof Interrupted)) throw error;
        });
        await team.fail(begun, 'container-vanished');
        begun = await team.begin(turn);
      }
      const last = new Attempt(team, begun, world, filesNow(), Infinity);
      const results = await last.run(one);
      await team.complete(begun);

      const lines: string[] = [];
      for (const [step, result] of results) {
        const found = last.files.filter((line) => line.startsWith(`${step} `));
        // A step whose outcome is unknown is there as far as a capture had it: not at all.
        const adds = !result.includes('outcome-unknown') && !result.includes(' lines"');
        const wanted = adds ? [`${step} a`, `${step} b`] : [];
        expect([step, found]).toEqual([step, wanted]);
        lines.push(...found);
      }
      expect(last.files).toHaveLength(lines.length);
      expect([...world.outside.values()].every((times) => times === 1)).toBe(true);
      const mails = one.answers.flatMap((_answer, number) => [`${String(number)}.9`, `${String(number)}.91`]);
      expect([...world.sent]).toEqual(mails.map((mail) => [mail, 1]));
      const kept = team.rows<{ step: string }>(`SELECT step FROM tool_calls WHERE turn_id = '${turn}'`);
      expect(new Set(kept.map(({ step }) => step)).size).toBe(kept.length);
    }),
    { numRuns: caseCount(60), seed: 20_261_123 },
  );
});
