import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { type Stack, startStack } from './support/stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ backends: ['process'] });
});
afterAll(() => stack.stop());

const commands = [
  'git init -q --initial-branch=main repo',
  'cd repo && echo one > a.txt && echo "* diff=evil -text" > .gitattributes && git add --all && git commit -qm Begin && git push -q shared HEAD:main',
  'cd repo && echo two > a.txt && printf "x%.0s" $(seq 200) > "odd\nname" && git add --all && git commit -qm "Measure the tide" && git push -q shared HEAD:suzumio/dev',
];

const yaml = JSON.stringify({
  name: 'tides',
  task: 'Measure.',
  git: { shared: true, maintainers: ['dev'] },
  backend: {
    kind: 'process',
    runner: {
      mode: 'mock',
      script: [{ agent: 'dev', steps: [...commands.map((command) => ({ run: { command } })), { text: 'Pushed.' }] }],
    },
  },
  tools: { toolpacks: ['shell'] },
  agents: { dev: { role: 'developer', prompt: 'Measure.', tools: [] } },
});

const diff = (query: string) => stack.api('GET', `/projects/tides/git/diff?${query}`);

test('what agents have pushed is compared by a worker, once; without one only what was compared before is told', async () => {
  expect(await stack.api('POST', '/projects', { file: yaml, start: true })).toMatchObject({ status: 201 });
  await stack.api('POST', '/projects/tides/messages', { recipient: 'dev', priority: 'P1', body: 'Go.' });
  const shared = async () =>
    (await stack.api('GET', '/projects/tides/git/refs')).body as { items: { ref: string; id: string }[] };
  await eventually('both branches are there', async () => (await shared()).items.length === 2, {
    show: () => stack.logs().slice(-3_000),
  });
  const [main, own] = (await shared()).items;

  const made = await diff('from=main&to=suzumio/dev&common=true');
  expect(made).toMatchObject({
    status: 200,
    body: {
      base: main?.id,
      head: own?.id,
      ahead: 1,
      behind: 0,
      commits: [{ id: own?.id, subject: 'Measure the tide', author: expect.stringContaining('dev') }],
      files: { added: 1, changed: 1, removed: 0 },
      diff: expect.stringContaining('-one\n+two\n'),
    },
  });
  expect((made.body as { diff: string }).diff).toContain(String.raw`"a/odd\nname"`);
  expect(await diff(`to=${'1'.repeat(40)}`)).toMatchObject({ status: 404, body: { code: 'git-commit-unknown' } });

  const [worker] = stack.services['turn-worker'];
  expect(await worker?.stop()).toBe(0);
  expect(await diff('from=main&to=suzumio/dev&common=true')).toEqual(made);
  expect(await diff('from=main&to=suzumio/dev')).toMatchObject({ status: 503, body: { code: 'git-diff-no-worker' } });

  await worker?.start();
  await eventually('a worker is online', async () => (await diff('from=main&to=suzumio/dev')).status === 200);
});
