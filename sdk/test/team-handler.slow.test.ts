import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { cancelTurn } from '../../shared/store/src/turns/end-turn.js';
import { expireLease } from '../../shared/store/src/turns/leases.js';
import { turnRow } from '../../shared/store/src/rows.js';
import { withoutTimers } from '../../test/support/bounds.js';
import { freePort } from '../../test/support/free-port.js';
import { eventually } from '../../test/support/poll.js';
import {
  type HandleTurn,
  RetryLater,
  type RunningHandler,
  SuzumioError,
  TeamHandler,
  type TeamHandlerOptions,
} from '../src/index.js';
import { createWorld, type World } from './support/world.js';

let world: World;
const running: RunningHandler[] = [];
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await Promise.allSettled(running.splice(0).map((handler) => handler.stop({ graceMs: 0 })));
  await world.close();
});

function handle(code: HandleTurn, change: Partial<TeamHandlerOptions> = {}): RunningHandler {
  const handler = new TeamHandler({ ...world.options, ...change }).handle(code);
  running.push(handler);
  return handler;
}

/** A wait that shows the world's state where it hangs. */
const waitFor = (what: string, condition: () => boolean | Promise<boolean>) =>
  eventually(what, condition, { show: world.state });

/** Waits until a promise has been settled by something that the test does. */
function latch(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { opened: promise.then(() => undefined), open: () => resolve(undefined) };
}

describe('a handler', () => {
  test('is handed the mail of a turn, and the text that it returns is the turn’s', async () => {
    await world.mail('ada', 'The north gauge, please.');
    handle(({ agent, mail, number, attempt }) => {
      const [message] = mail;
      return `${agent.id} ${String(number)}.${String(attempt)}: ${message?.sender ?? ''} says ${message?.body ?? ''}`;
    });
    await world.until('ada', 'completed');
    expect(await world.turns()).toMatchObject([{ text: 'ada 1.1: user says The north gauge, please.' }]);
  });

  test('says on stderr where it finds nobody, once, unless it has a logger', async () => {
    const said = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    try {
      const gone = `http://127.0.0.1:${String(await freePort())}`;
      handle(() => '', { url: gone });
      const { token } = world.options;
      running.push(new TeamHandler({ url: gone, token }).handle(() => ''));
      await waitFor('it says so', () => said.mock.calls.length > 0);
      expect(said.mock.calls).toEqual([
        [expect.stringMatching(/^suzumio: http:..127.0.0.1:\d+ does not answer: .*serve/)],
      ]);
    } finally {
      said.mockRestore();
    }
  });

  test('may return nothing', async () => {
    await world.mail('ada');
    handle(async () => {
      await Promise.resolve();
    });
    await world.until('ada', 'completed');
    expect(await world.turns()).toMatchObject([{ text: '' }]);
  });

  test('never sees the secrets of its turn', async () => {
    await world.mail('ada');
    handle((turn) => Object.keys(turn).sort().join(' '));
    await world.until('ada', 'completed');
    const keys = 'agent attempt id mail number project prompt timeoutMs tools';
    expect(await world.turns()).toMatchObject([{ text: keys }]);
  });

  test('sends, replies, broadcasts, assigns, publishes and submits', async () => {
    await world.mail('ada', 'All of it.');
    const answers: unknown[] = [];
    handle(
      async (turn, ctx) => {
        answers.push(await ctx.send({ recipient: 'ben', body: 'To ben.', priority: 'P0' }));
        answers.push(await ctx.reply({ body: 'To whom it came from.' }));
        answers.push(await ctx.broadcast({ body: 'To all.' }));
        answers.push(await ctx.assign({ role: 'watcher', body: 'Watch this.' }));
        answers.push(await ctx.publish({ name: 'level.txt', content: '3 m', description: 'The level' }));
        answers.push(await ctx.call('artifacts.read', { name: 'level.txt' }));
        answers.push(await ctx.submit('# Report'));
        return 'Done.';
      },
      { agents: ['ada'] },
    );
    await world.until('ada', 'completed');
    const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/) as unknown;
    const id = expect.any(String) as unknown;
    expect(answers).toEqual([
      { id, recipients: ['ben'] },
      { id, recipients: [], threadId: id },
      { id, recipients: ['ben', 'cat'] },
      { id, assignee: 'cat' },
      { id, name: 'level.txt', sha256, sizeBytes: 3 },
      { output: '3 m', metadata: expect.anything() },
      { version: 1 },
    ]);
    expect(await world.bodiesFrom('ada')).toEqual(['To ben.', 'To whom it came from.', 'To all.', 'Watch this.']);
    const [turn] = await world.turns();
    const steps = world.detail(turn?.id ?? '')?.calls.map(({ step }) => step);
    expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `sdk.${String(n)}`));
  });

  test('reads what is attached to its mail, whatever it holds, and files of directories', async () => {
    const binary = new Uint8Array(100_000).map((_, index) => (index * 7) % 256);
    await world.mail('ada', 'Read this.');
    handle(
      async (turn, ctx) => {
        if (turn.mail.some(({ sender }) => sender === 'user')) {
          const { sha256, sizeBytes } = await ctx.publish({ name: 'chart.png', content: binary });
          const chart = { kind: 'file', path: 'chart.png', sha256, sizeBytes, executable: false };
          const list = await ctx.publish({ name: 'list', content: JSON.stringify({ version: 1, entries: [chart] }) });
          const directory = { path: 'set', name: 'set', kind: 'directory', sha256: list.sha256 };
          await ctx.call('artifacts.publish', { ...directory, sizeBytes });
          await ctx.send({ recipient: 'ben', body: 'The chart.', attachments: ['chart.png'] });
        }
      },
      { agents: ['ada'] },
    );
    const read: unknown[] = [];
    handle(
      async ({ mail }, ctx) => {
        const attachment = mail[0]?.attachments[0];
        if (!attachment) return;
        read.push(await ctx.read(attachment));
        read.push(await ctx.read({ name: 'set', path: 'chart.png' }));
        read.push(await ctx.read({ name: 'set' }).catch((error: unknown) => error));
        read.push(await ctx.read({ ...attachment, maxBytes: 99_999 }).catch((error: unknown) => error));
        read.push(await ctx.read({ name: 'none.png' }).catch((error: unknown) => error));
      },
      { agents: ['ben'] },
    );
    await world.until('ben', 'completed');
    expect(read).toEqual([
      binary,
      binary,
      new TypeError('set is a directory: name a file in it with "path"'),
      new RangeError('chart.png has 100000 bytes, more than 99999'),
      expect.objectContaining({ code: 'artifact-unknown' }),
    ]);
  });

  test('must say which message it answers where there are several', async () => {
    await world.mail('ada', 'One.');
    await world.mail('ada', 'Two.');
    handle(async ({ mail }, ctx) => {
      await expect(ctx.reply({ body: 'To you.' })).rejects.toThrow('this turn has 2 messages');
      const [, second] = mail;
      if (second) await ctx.reply({ message: second, body: 'To the second.' });
    });
    await world.until('ada', 'completed');
    expect(await world.bodiesFrom('ada')).toEqual(['To the second.']);
  });

  test('is told by its code what is refused, and may go on', async () => {
    await world.mail('ada');
    let refusal: unknown;
    handle(
      async (_turn, ctx) => {
        refusal = await ctx.send({ recipient: 'nobody', body: 'Hi.' }).catch((error: unknown) => error);
        await ctx.send({ recipient: 'ben', body: 'Then to you.' });
      },
      { agents: ['ada'] },
    );
    await world.until('ada', 'completed');
    expect(refusal).toBeInstanceOf(SuzumioError);
    expect(refusal).toMatchObject({ code: 'recipient-unknown', status: 422 });
    expect(await world.bodiesFrom('ada')).toEqual(['Then to you.']);
  });

  test('that throws fails its turn at once, and goes on with others', async () => {
    await world.mail('ada');
    handle(({ agent }) => {
      if (agent.id === 'ada') throw new TypeError('no such gauge');
      return 'Well.';
    });
    await world.until('ada', 'failed');
    const [failed] = await world.turns();
    expect(world.detail(failed?.id ?? '')?.failure).toMatchObject({
      code: 'handler-failed',
      message: 'TypeError: no such gauge',
    });
    await world.mail('ben');
    await world.until('ben', 'completed');
    expect(world.said).toContain('turn 1 of ada, attempt 1: failed: no such gauge');
  });

  test('that wants to be tried later is', async () => {
    await world.mail('ada');
    handle(() => {
      throw new RetryLater('The archive is closed.');
    });
    await waitFor('it waits for another try', async () => {
      const [turn] = await world.turns();
      return turn?.status === 'queued' && turn.attempt === 1;
    });
    const [turn] = await world.turns();
    expect(world.detail(turn?.id ?? '')?.attempts).toMatchObject([
      { counted: false, failure: { code: 'provider-unavailable', message: 'The archive is closed.' } },
    ]);
  });

  test('whose text is too long is told so', async () => {
    await world.mail('ada');
    handle(() => 'x'.repeat(1_000_001));
    await world.until('ada', 'failed');
    expect(await world.turns()).toMatchObject([{ code: 'output-too-large' }]);
  });

  test('gets each message by itself with batch 1', async () => {
    for (const body of ['One.', 'Two.', 'Three.']) await world.mail('ada', body);
    const bodies: string[][] = [];
    handle(
      ({ mail }) => {
        bodies.push(mail.map(({ body }) => body));
        return undefined;
      },
      { batch: 1 },
    );
    await world.until('ada', 'completed', 3);
    expect(bodies).toEqual([['One.'], ['Two.'], ['Three.']]);
  });

  test('runs as many turns at a time as it says', async () => {
    const both = latch();
    const started: string[] = [];
    const code: HandleTurn = async ({ agent }) => {
      started.push(agent.id);
      await both.opened;
      return undefined;
    };
    const handler = handle(code, { concurrency: 2 });
    await world.mail('ada');
    await world.mail('ben');
    await waitFor('both run', () => started.length === 2);
    both.open();
    await world.until('ada', 'completed');
    await world.until('ben', 'completed');
    await handler.stop();

    const alone = latch();
    started.length = 0;
    handle(async ({ agent }) => {
      started.push(agent.id);
      await alone.opened;
      return undefined;
    });
    await world.mail('ada');
    await world.mail('ben');
    await waitFor('one runs', () => started.length === 1);
    const claims = () => world.proxy.seen.filter((path) => path.endsWith('/claim')).length;
    const before = claims();
    alone.open();
    await waitFor('the other runs then', () => started.length === 2);
    expect(claims()).toBeGreaterThan(before);
  });

  test('has one code only', () => {
    const team = new TeamHandler(world.options);
    running.push(team.handle(() => undefined));
    expect(() => team.handle(() => undefined)).toThrow('make another one');
    expect(() => new TeamHandler({ ...world.options, concurrency: 0 })).toThrow('1 or more');
  });
});

describe('a turn that is tried again', () => {
  /** Lets the lease of the attempt that runs run out. */
  const lose = async (attempt: number) => {
    const [turn] = await world.turns();
    world.bench.testing.setNow(Date.now() + 60_000 * attempt);
    await world.bench.testing.write(world.project, (tx) => expireLease(tx, { turn: turn?.id ?? '', attempt }));
  };

  test('repeats its calls from the journal: each takes effect once', async () => {
    await world.mail('ada');
    const stuck = latch();
    const ids: string[] = [];
    handle(
      async ({ attempt }, ctx) => {
        ids.push((await ctx.send({ recipient: 'ben', body: 'Once.' })).id);
        ids.push((await ctx.publish({ name: 'a.txt', content: `of attempt ${String(attempt)}` })).id);
        if (attempt > 1) return 'Done.';
        await stuck.opened;
        return undefined;
      },
      { agents: ['ada'], concurrency: 2 },
    );
    await waitFor('the first attempt is stuck', () => ids.length === 2);
    await lose(1);
    await world.until('ada', 'completed');
    stuck.open();
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    expect(await world.bodiesFrom('ada')).toEqual(['Once.']);
    expect(await world.bench.testing.rows(world.project, 'SELECT name FROM artifacts')).toEqual([{ name: 'a.txt' }]);
  });

  test('may not say something else in the place of what it said', async () => {
    await world.mail('ada');
    const stuck = latch();
    let sent = 0;
    handle(
      async ({ attempt }, ctx) => {
        await ctx.send({ recipient: 'ben', body: `In attempt ${String(attempt)}.` });
        sent += 1;
        await stuck.opened;
        return undefined;
      },
      { agents: ['ada'], concurrency: 2 },
    );
    await waitFor('the first attempt is stuck', () => sent === 1);
    await lose(1);
    await world.until('ada', 'failed');
    stuck.open();
    expect(await world.turns()).toMatchObject([{ attempt: 2, code: 'journal-mismatch' }]);
    expect(await world.bodiesFrom('ada')).toEqual(['In attempt 1.']);
  });

  test('may do its calls in another order where they have keys', async () => {
    await world.mail('ada');
    const stuck = latch();
    let sent = 0;
    handle(
      async ({ attempt }, ctx) => {
        for (const name of attempt === 1 ? ['a', 'b'] : ['c', 'b', 'a']) {
          await ctx.send({ recipient: 'ben', body: name, idempotencyKey: `send:${name}` });
          sent += 1;
        }
        if (attempt === 1) await stuck.opened;
        return undefined;
      },
      { agents: ['ada'], concurrency: 2 },
    );
    await waitFor('the first attempt is stuck', () => sent === 2);
    await lose(1);
    await world.until('ada', 'completed');
    stuck.open();
    expect(await world.bodiesFrom('ada')).toEqual(['a', 'b', 'c']);
  });

  test('needs keys that can be kept', async () => {
    await world.mail('ada');
    handle(async (_turn, ctx) => {
      await ctx.send({ recipient: 'ben', body: 'Hi.', idempotencyKey: 'a b' });
    });
    await world.until('ada', 'failed');
    expect(await world.turns()).toMatchObject([{ code: 'handler-failed' }]);
  });
});

describe('a turn that is lost', () => {
  test('tells its code by the signal, and takes no effect any more', async () => {
    await world.mail('ada');
    const { promise: lost, resolve } = Promise.withResolvers<unknown>();
    let late: unknown;
    handle(async (_turn, ctx) => {
      ctx.signal.addEventListener('abort', () => resolve(ctx.signal.reason));
      await lost;
      late = await ctx.send({ recipient: 'ben', body: 'Late.' }).catch((error: unknown) => error);
      return 'Never.';
    });
    await world.until('ada', 'running');
    const [turn] = await world.turns();
    await world.bench.testing.write(world.project, (tx) =>
      cancelTurn(tx, turnRow(tx, turn?.id ?? ''), 'enough', 'ann'),
    );
    expect(await lost).toMatchObject({ name: 'TurnLost' });
    await waitFor('its code has ended', () => late !== undefined);
    expect(late).toMatchObject({ name: 'TurnLost' });
    await waitFor('the log says so', () => world.said.some((line) => line.includes('attempt 1: lost')));
    expect(await world.turns()).toMatchObject([{ status: 'cancelled', text: null }]);
    expect(await world.bodiesFrom('ada')).toEqual([]);
  });

  test('is given up by the handler’s own clock where no ToolHost answers', async () => {
    await world.bench.restart({ leaseMs: 1_000 });
    await world.mail('ada');
    const { promise: lost, resolve } = Promise.withResolvers<unknown>();
    handle(async (_turn, ctx) => {
      world.proxy.fault = () => 'lose-request';
      ctx.signal.addEventListener('abort', () => resolve(ctx.signal.reason));
      await lost;
      return undefined;
    });
    expect(await lost).toMatchObject({ name: 'TurnLost', message: expect.stringContaining('did not answer') });
  });
});

describe('while the network is bad', () => {
  test('a heartbeat that hangs leaves time for another one', async () => {
    await world.mail('ada');
    const beats = () => world.proxy.seen.filter((path) => path.endsWith('/heartbeat')).length;
    world.proxy.fault = (path) => (path.endsWith('/heartbeat') && beats() === 1 ? 'hang' : undefined);
    handle(async (_turn, ctx) => {
      await waitFor('another one has been heard, or the turn is lost', () => beats() > 2 || ctx.signal.aborted);
      return 'Kept.';
    });
    await world.until('ada', 'completed');
    expect(await world.turns()).toMatchObject([{ attempt: 1, text: 'Kept.' }]);
  });

  test('an answer to a claim is waited for little longer than the claim may wait', async () => {
    const bounds = jest.spyOn(AbortSignal, 'timeout');
    handle(() => undefined);
    await waitFor('it waits for a turn', () => world.proxy.seen.some((path) => path.endsWith('/claim')));
    const longestMs = Math.max(...bounds.mock.calls.map(([ms]) => ms));
    bounds.mockRestore();
    expect(longestMs).toBe(30_000);
  });

  test.each(['lose-answer', 'lose-request', 'unavailable'] as const)(
    'every request is repeated as it was: %s',
    async (fault) => {
      const failed = new Set<string>();
      world.proxy.fault = (path) => {
        const kind = /self$|claim$|tool$|content|complete$/.exec(path)?.[0];
        if (kind === undefined || failed.has(kind)) return undefined;
        failed.add(kind);
        return fault;
      };
      await world.mail('ada');
      handle(
        async (_turn, ctx) => {
          await ctx.send({ recipient: 'ben', body: 'Once.' });
          await ctx.publish({ name: 'a.txt', content: 'a' });
          return 'Done.';
        },
        { agents: ['ada'] },
      );
      await world.until('ada', 'completed');
      expect([...failed].sort()).toEqual(['claim', 'complete', 'content', 'self', 'tool']);
      expect(await world.turns()).toMatchObject([{ attempt: 1, text: 'Done.' }]);
      expect(await world.bodiesFrom('ada')).toEqual(['Once.']);
    },
  );

  test('the handler waits for a ToolHost that is not there yet', async () => {
    world.proxy.fault = () => 'lose-request';
    handle(() => 'Here.');
    await waitFor('it says that it waits', () => world.said.some((line) => line.includes('trying again')));
    world.proxy.fault = () => undefined;
    await world.mail('ada');
    await world.until('ada', 'completed');
  });
});

describe('a handler that is stopped', () => {
  const waits = () => waitFor('it waits for a turn', () => world.proxy.seen.some((path) => path.endsWith('/claim')));

  test('gives up its claim at once', async () => {
    let handler: RunningHandler | undefined;
    // Neither its wait nor its answer's ends the claim.
    await withoutTimers(1_000, async () => {
      handler = handle(() => undefined);
      await waits();
      await handler.stop();
    });
    await world.mail('ada');
    expect(await world.turns()).toMatchObject([{ status: 'queued', attempt: 0 }]);
    await expect(handler?.done).resolves.toBeUndefined();
  });

  test('finishes what it runs, and takes no more', async () => {
    const work = latch();
    let begun = 0;
    const handler = handle(async (_turn, ctx) => {
      begun += 1;
      await work.opened;
      await ctx.send({ recipient: 'user', body: 'To the end.' });
      return 'Finished.';
    });
    await world.mail('ada');
    await waitFor('the turn runs', () => begun === 1);
    await world.mail('ben');
    const stopped = handler.stop();
    work.open();
    await stopped;
    expect(await world.turns('ada')).toMatchObject([{ status: 'completed', text: 'Finished.' }]);
    expect(await world.turns('ben')).toMatchObject([{ status: 'queued', attempt: 0 }]);
  });

  test('leaves what takes longer than the grace to whoever tries it next, and no try is counted', async () => {
    let reason: unknown;
    let begun = 0;
    const handler = handle(async (_turn, ctx) => {
      begun += 1;
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      reason = ctx.signal.reason;
    });
    await world.mail('ada');
    await waitFor('the turn runs', () => begun === 1);
    await handler.stop({ graceMs: 10 });
    expect(reason).toMatchObject({ name: 'TurnLost', message: 'The handler was stopped.' });
    const [turn] = await world.turns();
    expect(turn).toMatchObject({ status: 'queued', attempt: 1 });
    expect(world.detail(turn?.id ?? '')?.attempts).toMatchObject([
      { counted: false, failure: { code: 'worker-shutdown' } },
    ]);
  });

  test('waits for no code that never returns, once it has left its turn', async () => {
    let begun = 0;
    const handler = handle(async () => {
      begun += 1;
      await new Promise(() => undefined);
    });
    await world.mail('ada');
    await waitFor('the turn runs', () => begun === 1);
    await handler.stop({ graceMs: 10 });
    await expect(handler.done).resolves.toBeUndefined();
    expect(await world.turns()).toMatchObject([{ status: 'queued', attempt: 1 }]);
    expect(world.said).toContain('turn 1 of ada, attempt 1: lost: The handler was stopped.');
  });

  test.each(['hang', 'unavailable'] as const)(
    'waits no longer than a lease to say that it leaves: %s',
    async (fault) => {
      await world.bench.restart({ leaseMs: 1_000 });
      let begun = 0;
      const handler = handle(async () => {
        begun += 1;
        await new Promise(() => undefined);
      });
      await world.mail('ada');
      await waitFor('the turn runs', () => begun === 1);
      world.proxy.fault = (path) => (path.endsWith('/fail') ? fault : undefined);
      // Nothing but the lease ends this: an answer is waited for for 15 s.
      await withoutTimers(15_000, () => handler.stop({ graceMs: 10 }));
    },
  );

  test('is stopped by a signal just as well', async () => {
    const stop = new AbortController();
    const handler = handle(() => undefined, { signal: stop.signal });
    await waits();
    stop.abort();
    await handler.done;
  });

  test('stops by itself when its token is revoked, once what it runs has ended', async () => {
    const work = latch();
    let begun = 0;
    const handler = handle(
      async () => {
        begun += 1;
        await work.opened;
        return 'Finished.';
      },
      { concurrency: 2 },
    );
    await world.mail('ada');
    await waitFor('the turn runs', () => begun === 1);
    await world.bench.testing.cell.catalog.tokens.revoke('desk');
    const ended = expect(handler.done).rejects.toMatchObject({ name: 'SuzumioError', code: 'token-rejected' });
    work.open();
    await ended;
    expect(await world.turns()).toMatchObject([{ status: 'completed' }]);
  });

  test.each([
    [{ token: `szm_${'x'.repeat(43)}` }, 'token-rejected'],
    [{ agents: ['cat'] }, 'handler-agent-refused'],
    [{ team: 'south' }, 'handler-agent-refused'],
    [{ batch: 0 }, 'invalid-request'],
  ])('had to be, with %j: %s', async (change, code) => {
    await expect(handle(() => undefined, change).done).rejects.toMatchObject({ name: 'SuzumioError', code });
  });
});
