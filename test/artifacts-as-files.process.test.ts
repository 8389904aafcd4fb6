import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ArtifactTeam, commands } from './support/artifact-team.js';
import { type Stack, startStack } from './support/stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ backends: ['process'], leaseMs: 6_000, sweepMs: 500 });
});
afterAll(() => stack.stop());

const at = '$SUZUMIO_ARTIFACTS_DIR';

test('a turn that runs as a process finds artifacts where a variable and its tools say', async () => {
  const team = await ArtifactTeam.create(stack, 'files', 'process', [
    {
      agent: 'ada',
      when: { turn: 1 },
      steps: [
        { tool: 'file.write', input: { path: '/artifacts/ada/x.md', content: 'one\n' } },
        ...commands(`ls ${at}; cat ${at}/ada/x.md; mkdir ${at}/ada/site && echo i > ${at}/ada/site/index.md`).slice(
          0,
          1,
        ),
        { tool: 'artifacts.publish', input: { path: '/artifacts/ada/x.md', name: 'early.md' } },
        { text: '{{steps.1.output}}' },
      ],
    },
    { agent: 'ada', steps: commands(`cat ${at}/ada/x.md; rm ${at}/ada/x.md`) },
    {
      agent: 'ben',
      when: { turn: 1 },
      steps: [
        { tool: 'file.read', input: { path: '/artifacts/ada/x.md' } },
        {
          tool: 'file.write',
          input: { path: '/artifacts/ada/x.md', content: 'mine' },
          expectError: 'read-only',
        },
        { tool: 'file.write', input: { path: '/artifacts/ben/b.md', content: 'b' } },
        ...commands(`cat ${at}/ada/site/index.md; echo planted > ${at}/ada/planted; echo forged > ${at}/ada/x.md`),
      ].slice(0, 4),
    },
    { agent: 'ben', steps: commands(`ls ${at}/ada ${at}/ben; cat ${at}/ada/x.md`) },
  ]);
  expect(await team.turn('ada:1')).toBe('ada\nben\ncal\none');
  const published = await team.artifacts();
  expect(published.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'early.md file',
    'site directory',
    'x.md file',
  ]);
  expect(published[2]?.sha256).toBe(createHash('sha256').update('one\n').digest('hex'));
  await team.turn('ben:1');
  // What a process has written there is gone, and was published by nobody.
  expect(await team.turn('ben:2')).toMatch(/:\nearly\.md\nsite\nx\.md\n\n.*:\nb\.md\none$/s);
  expect(await team.artifacts()).toHaveLength(3);
  // What is deleted stays published.
  expect(await team.turn('ada:2')).toBe('one');
  expect(await team.artifacts()).toHaveLength(3);
  expect(team.broken()).toEqual([]);
});

test('a turn whose worker is killed goes on with the same files, which are published once', async () => {
  const steps = [
    { run: { command: `head -c 20 /dev/urandom | od -An -tx1 | tee ${at}/ada/x.md` } },
    { tool: 'messages.send', input: { recipient: 'user', body: 'Written.' } },
  ];
  const team = await ArtifactTeam.create(stack, 'killed', 'process', [
    { agent: 'ada', when: { attempt: 1 }, steps: [...steps, { hang: true }] },
    { agent: 'ada', steps: [...steps, { run: { command: `cat ${at}/ada/x.md` } }, { text: '{{steps.2.output}}' }] },
  ]);
  await team.send('ada');
  await team.untilCaptured('ada:1');
  const [worker] = stack.services['turn-worker'];
  await worker?.kill();
  await worker?.start();
  const { text, json } = await team.ended('ada:1');
  expect(JSON.parse(json)).toMatchObject({ attempt: 2 });
  const [artifact, ...more] = await team.artifacts();
  expect(more).toEqual([]);
  expect(artifact?.sha256).toBe(createHash('sha256').update(`${text}\n`).digest('hex'));
  expect(team.broken()).toEqual([]);
});
