import { expect, test } from '@jest/globals';
import { newestOf } from '@suzumio/cli/commands/list';
import { createSession } from '@suzumio/cli/session';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

type Answer = { items: number[]; previous?: number } | SuzumioError;

/** Looks through a list whose parts are these, from the last on. */
async function look(limit: number, answers: Answer[], interruptedAfter = Infinity) {
  const asked: object[] = [];
  const interruption = new AbortController();
  let said = '';
  const output = { drained: () => Promise.resolve(), isTerminal: false, colors: false, columns: undefined };
  const session = createSession(
    {
      env: {},
      homeDir: '/nowhere',
      out: { ...output, write: () => undefined },
      err: { ...output, write: (text) => (said += String(text)) },
      self: 'suzumio',
      interrupted: interruption.signal,
      ask: undefined,
      now: () => 0,
      timeZone: 'UTC',
    },
    {},
  );
  const found = await newestOf(session, limit, (page) => {
    asked.push(page);
    if (asked.length >= interruptedAfter) interruption.abort();
    const answer = answers[asked.length - 1] ?? { items: [] };
    return answer instanceof SuzumioError ? Promise.reject(answer) : Promise.resolve(answer);
  });
  return { found, asked, said };
}

test('a list is followed to its beginning, or until there is enough of it', async () => {
  const parts: Answer[] = [{ items: [8, 9], previous: 8 }, { items: [], previous: 4 }, { items: [2] }];
  expect(await look(5, parts)).toMatchObject({
    found: [2, 8, 9],
    asked: [{ limit: 5 }, { limit: 3, before: 8 }, { limit: 3, before: 4 }],
  });
  expect(await look(2, parts)).toMatchObject({ found: [8, 9], asked: [{ limit: 2 }] });
});

test('a server that has answered enough for now is asked again', async () => {
  const enough = new SuzumioError('rate-limited', 'Too many requests; go on in 1 s.');
  expect(await look(5, [{ items: [9], previous: 9 }, enough, { items: [3] }])).toMatchObject({
    found: [3, 9],
    asked: [{ limit: 5 }, { limit: 4, before: 9 }, { limit: 4, before: 9 }],
  });
  await expect(look(5, [enough])).rejects.toThrow('Too many requests');
});

test('Ctrl-C ends the looking, and says that it was not the whole list', async () => {
  const { found, asked, said } = await look(
    5,
    [
      { items: [9], previous: 9 },
      { items: [7], previous: 7 },
    ],
    2,
  );
  expect({ found, asked: asked.length, said }).toEqual({
    found: [7, 9],
    asked: 2,
    said: 'Interrupted: what is older was not looked at.\n',
  });
});
