import { describe, expect, test } from '@jest/globals';
import type { HttpAnswer } from '@suzumio/protocol/http-client';
import { chatPath, stepHeader } from '@suzumio/protocol/model-chat';
import { type Passing, SandboxSteps, type StepJournal } from '../src/door/sandbox-steps.js';

/** A runner whose requests are sent to a ToolHost that says what a test says; everything that happens is noted in order. */
class Bench {
  readonly happened: string[] = [];
  readonly steps: SandboxSteps;
  /** Resolves or rejects the captures, where a test holds them. */
  held: PromiseWithResolvers<void> | undefined;
  /** Why the workspace cannot be captured, where a test says so. */
  uncaptured: string | undefined;

  constructor(journal: Partial<StepJournal> = {}) {
    this.steps = new SandboxSteps({
      capture: async (steps) => {
        this.happened.push(`capture ${steps.join(' ')}`);
        await this.held?.promise;
        this.happened.push(this.uncaptured ?? 'captured');
        return this.uncaptured;
      },
      mark: async (steps) => {
        await Promise.resolve();
        this.happened.push(`mark ${steps.join(' ')}`);
      },
      ...journal,
    });
  }

  begin(step: string, answer: Promise<HttpAnswer> | HttpAnswer = answerOf(step)): Promise<HttpAnswer> {
    return this.#pass('/tool/begin', `begin ${step}`, answer);
  }

  end(step: string, answer: Promise<HttpAnswer> | HttpAnswer = answerOf(step)): Promise<HttpAnswer> {
    return this.#pass('/tool/end', `end ${step}`, answer);
  }

  send(route = '/tool', passing: Passing = {}): Promise<HttpAnswer> {
    return this.#pass(route, route, answerOf(), passing);
  }

  async take(step: string): Promise<void> {
    await this.begin(step);
    await this.end(step);
  }

  async #pass(
    route: string,
    what: string,
    answer: Promise<HttpAnswer> | HttpAnswer,
    passing: Passing = {},
  ): Promise<HttpAnswer> {
    const send = (uncaptured?: string) => {
      this.happened.push(uncaptured === undefined ? what : `${what}, ${uncaptured}`);
      return Promise.resolve(answer);
    };
    const answered = await this.steps.pass(route, send, passing);
    this.happened.push(`${what} answered`);
    return answered;
  }
}

/** Of a step that has begun or ended; without one, of a step that is answered from the journal, or of a refusal. */
function answerOf(step?: string, status = 200): HttpAnswer {
  return {
    status,
    header: (name) => (name === stepHeader ? step : undefined),
    body: (async function* () {})(),
    discard: () => undefined,
  };
}

/** Lets everything happen that can. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe.each(['/tool', chatPath])('a call of %s that names no step', (route) => {
  test('is sent at once while a step is open: its own program makes it', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    await bench.begin('0.1');
    bench.happened.length = 0;
    await bench.send(route, { unnamed: true });
    expect(bench.happened).toEqual([route, `${route} answered`]);
  });

  test('waits for the capture like others where none is open', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    bench.happened.length = 0;
    await bench.send(route, { unnamed: true });
    expect(bench.happened).toEqual(['capture 0.0', 'captured', route, `${route} answered`]);
  });
});

describe('a call that leaves the sandbox', () => {
  test('waits no more once its asking side goes away, and keeps no step from beginning', async () => {
    const bench = new Bench();
    await bench.begin('0.0');
    const left = new AbortController();
    const gone = bench.send('/tool', { gone: left.signal });
    const begun = bench.begin('0.1');
    await settled();
    expect(bench.happened).toEqual(['begin 0.0', 'begin 0.0 answered']);
    left.abort(new Error('went away'));
    await expect(gone).rejects.toThrow('went away');
    await begun;
    expect(bench.happened.slice(2)).toEqual(['begin 0.1', 'begin 0.1 answered']);
  });

  test.each(['/tool', chatPath])(
    'to %s is sent once the steps before it are captured, all of them at once',
    async (route) => {
      const bench = new Bench();
      await bench.take('0.0');
      await bench.take('0.1');
      bench.happened.length = 0;
      await bench.send(route);
      await bench.send(route);
      expect(bench.happened).toEqual([
        'capture 0.0 0.1',
        'captured',
        route,
        `${route} answered`,
        route,
        `${route} answered`,
      ]);
    },
  );

  test('is sent at once where nothing has run, and neither is content held up nor a list of models', async () => {
    const bench = new Bench();
    await bench.send();
    await bench.begin('0.0', answerOf());
    await bench.begin('1.0', answerOf('1.0', 403));
    await bench.send();
    await bench.take('2.0');
    await bench.send('/v1/models');
    await bench.send(`/content/${'a'.repeat(64)}`);
    expect(bench.happened.filter((what) => what.startsWith('capture'))).toEqual([]);
  });

  test('waits until no step is open; a step that comes later waits until it is sent', async () => {
    const bench = new Bench();
    await bench.begin('0.0');
    const beginning = Promise.withResolvers<HttpAnswer>();
    const other = bench.begin('0.1', beginning.promise);
    const call = bench.send();
    await settled();
    const late = bench.begin('0.2');
    await settled();
    await bench.end('0.0');
    await settled();
    expect(bench.happened.slice(-2)).toEqual(['end 0.0', 'end 0.0 answered']);
    beginning.resolve(answerOf('0.1'));
    await other;
    await bench.end('0.1');
    await Promise.all([call, late]);
    const order = ['end 0.1', 'capture 0.0 0.1', 'captured', 'begin 0.2'];
    expect(bench.happened.filter((what) => order.includes(what))).toEqual(order);
    expect(bench.happened.indexOf('/tool')).toBeGreaterThan(bench.happened.indexOf('captured'));
  });

  test('shares the capture that another waits for', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    bench.held = Promise.withResolvers();
    const calls = [bench.send(), bench.send(chatPath)];
    await settled();
    expect(bench.happened.filter((what) => what.startsWith('capture '))).toHaveLength(1);
    expect(bench.happened).not.toContain('/tool');
    bench.held.resolve();
    await Promise.all(calls);
    expect(bench.happened.filter((what) => what.startsWith('capture '))).toHaveLength(1);
  });

  test('is not sent when the capture fails', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    bench.held = Promise.withResolvers();
    const call = bench.send();
    bench.held.reject(new Error('no room'));
    await expect(call).rejects.toThrow('no room');
    expect(bench.happened).not.toContain('/tool');
    // What has ended is captured the next time.
    bench.held = undefined;
    await bench.send();
    expect(bench.happened.filter((what) => what === 'capture 0.0')).toHaveLength(2);
  });

  test('is sent with why the workspace cannot be captured, until it can be', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    bench.uncaptured = 'too large';
    bench.happened.length = 0;
    await bench.send();
    await bench.take('1.0');
    bench.uncaptured = undefined;
    await bench.send(chatPath);
    expect(bench.happened.filter((what) => !/begin|end|answered/.test(what))).toEqual([
      'capture 0.0',
      'too large',
      '/tool, too large',
      'capture 0.0 1.0',
      'captured',
      chatPath,
    ]);
  });

  test('does not wait for a step whose beginning or end was not answered', async () => {
    const bench = new Bench();
    await expect(bench.begin('0.0', Promise.reject(new Error('away')))).rejects.toThrow('away');
    await bench.send();
    await bench.begin('0.0');
    await expect(bench.end('0.0', Promise.reject(new Error('away')))).rejects.toThrow('away');
    // It is still open until its end is known.
    const call = bench.send();
    await settled();
    expect(bench.happened).not.toContain('capture 0.0');
    await bench.end('0.0');
    await call;
    expect(bench.happened).toContain('capture 0.0');
  });
});

describe('what reaches outside', () => {
  test('marks the open steps, each once, and their results are told when they are captured', async () => {
    const bench = new Bench();
    await bench.begin('0.0');
    await bench.steps.reachOutside();
    await bench.steps.reachOutside();
    expect(bench.happened.filter((what) => what.startsWith('mark'))).toEqual(['mark 0.0']);
    await bench.end('0.0');
    expect(bench.happened.slice(-4)).toEqual(['end 0.0', 'capture 0.0', 'captured', 'end 0.0 answered']);
    await bench.begin('0.1');
    await bench.end('0.1');
    expect(bench.happened.slice(-2)).toEqual(['end 0.1', 'end 0.1 answered']);
  });

  test('is a push to the shared repository, which waits for no step to end', async () => {
    const bench = new Bench();
    await bench.begin('0.0');
    await bench.send('/git/push');
    expect(bench.happened.slice(-3)).toEqual(['mark 0.0', '/git/push', '/git/push answered']);
    await bench.end('0.0');
    expect(bench.happened.slice(-2)).toEqual(['captured', 'end 0.0 answered']);
  });

  test('without an open step it is something that an earlier one left running, which is captured before', async () => {
    const bench = new Bench();
    await bench.take('0.0');
    await bench.steps.reachOutside();
    expect(bench.happened.slice(-2)).toEqual(['capture 0.0', 'captured']);
    await bench.take('0.1');
    bench.uncaptured = 'too large';
    await expect(bench.steps.reachOutside()).rejects.toMatchObject({
      code: 'workspace-too-large',
      message: 'too large',
    });
  });

  test('is captured before its result is told, also where it ends while its mark is sent', async () => {
    const marked = Promise.withResolvers<undefined>();
    const bench = new Bench({ mark: () => marked.promise });
    await bench.begin('0.0');
    const reaching = bench.steps.reachOutside();
    const other = bench.steps.reachOutside().then(() => bench.happened.push('reached'));
    await bench.end('0.0');
    expect(bench.happened.slice(-3)).toEqual(['capture 0.0', 'captured', 'end 0.0 answered']);
    marked.resolve(undefined);
    await Promise.all([reaching, other]);
    expect(bench.happened.at(-1)).toBe('reached');
  });

  test('is marked by the next that reaches outside, where the mark has failed', async () => {
    let fails = true;
    const bench = new Bench({ mark: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve()) });
    await bench.begin('0.0');
    await expect(bench.steps.reachOutside()).rejects.toThrow('away');
    fails = false;
    await bench.steps.reachOutside();
  });

  test('waits until the mark is there', async () => {
    const bench = new Bench({ mark: () => Promise.reject(new Error('away')) });
    await bench.begin('0.0');
    await expect(bench.steps.reachOutside()).rejects.toThrow('away');
  });
});
