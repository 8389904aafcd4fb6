import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ArtifactTeam, commands } from './support/artifact-team.js';
import { docker } from './support/images.js';
import { type Stack, startStack } from './support/stack.js';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ leaseMs: 6_000, sweepMs: 500 });
});
afterAll(async () => {
  await stack.stop();
  expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`)).toBe('');
});

const containerOf = (project: string) =>
  docker(
    'ps',
    '--quiet',
    '--filter',
    `label=suzumio.cell=${stack.cell}`,
    '--filter',
    `label=suzumio.project=${project}`,
  );

test('what one agent writes with its shell another one reads in its next turn, and cannot write', async () => {
  const team = await ArtifactTeam.create(stack, 'files', 'docker', [
    {
      agent: 'ada',
      when: { turn: 1 },
      steps: commands(
        'ls /artifacts; echo $SUZUMIO_ARTIFACTS_DIR; echo one > /artifacts/ada/x.md',
        'mkdir -p /artifacts/ada/site/in && echo i > /artifacts/ada/site/in/index.md',
        'touch /artifacts/planted',
      ),
    },
    { agent: 'ada', steps: commands('cat /artifacts/ada/x.md /artifacts/ada/site/in/index.md; ls -A /workspace') },
    {
      agent: 'ben',
      when: { turn: 1 },
      steps: [
        ...commands(
          'cat /artifacts/ada/x.md /artifacts/ada/site/in/index.md',
          'echo forged > /artifacts/ada/x.md',
          'rm /artifacts/ada/x.md',
          'mv /artifacts/ben /artifacts/other',
          'echo b > /artifacts/ben/b.md',
        ).slice(0, 5),
        { tool: 'file.write', input: { path: '/artifacts/ada/x.md', content: 'forged' }, expectError: 'read-only' },
        { text: '{{steps.0.output}}|{{steps.1.output}}|{{steps.2.output}}|{{steps.3.output}}' },
      ],
    },
    { agent: 'ben', steps: commands('cat /artifacts/ada/x.md /artifacts/ben/b.md') },
  ]);
  const [made, , planted] = (await team.turn('ada:1')).split('\n--\n');
  expect(made).toBe('ada\nben\ncal\n/artifacts');
  expect(planted).toContain('Read-only file system');
  expect((await team.artifacts()).map(({ name, kind }) => [name, kind])).toEqual([
    ['site', 'directory'],
    ['x.md', 'file'],
  ]);
  const [read, forged, removed, moved] = (await team.turn('ben:1')).split('|');
  expect(read).toBe('one\ni');
  for (const refused of [forged, removed, moved]) expect(refused).toMatch(/Read-only file system|busy/);
  expect(await team.turn('ada:2')).toBe('one\ni');
  // Without artifacts.publish it is kept, and nothing is published.
  expect(await team.turn('ben:2')).toBe('one\nb');
  expect(await team.artifacts()).toHaveLength(2);
  expect(team.broken()).toEqual([]);
});

test('a turn that is killed goes on with the same files, which are published once', async () => {
  const steps = [
    { run: { command: 'head -c 20 /dev/urandom | od -An -tx1 | tee /artifacts/ada/x.md' } },
    { tool: 'messages.send', input: { recipient: 'user', body: 'Written.' } },
  ];
  const go = { run: { command: 'cat /artifacts/ada/x.md; cat /artifacts/cal/c.md' } };
  const team = await ArtifactTeam.create(stack, 'killed', 'docker', [
    { agent: 'cal', when: { turn: 1 }, steps: commands('echo 1 > /artifacts/cal/c.md') },
    { agent: 'cal', steps: commands('echo 2 > /artifacts/cal/c.md') },
    { agent: 'ada', when: { attempt: 1 }, steps: [...steps, { hang: true }] },
    { agent: 'ada', steps: [...steps, go, { text: '{{steps.2.output}}' }] },
  ]);
  await team.turn('cal:1');
  await team.send('ada');
  await team.untilCaptured('ada:1');
  // Its later attempts do not find it.
  await team.turn('cal:2');
  await docker('kill', await containerOf('killed'));
  const { text, json } = await team.ended('ada:1');
  expect(JSON.parse(json)).toMatchObject({ attempt: 2 });
  const own = (await team.artifacts()).filter(({ creator }) => creator === 'ada');
  expect(own).toHaveLength(1);
  expect(text.endsWith('\n1')).toBe(true);
  expect(own[0]?.sha256).toBe(createHash('sha256').update(text.slice(0, -1)).digest('hex'));
  expect(team.broken()).toEqual([]);
});

test('hostile names, links and sockets are published by nobody, and told', async () => {
  const team = await ArtifactTeam.create(stack, 'hostile', 'docker', [
    {
      agent: 'cal',
      when: { turn: 1 },
      steps: commands(
        [
          'cd /artifacts/cal',
          'echo ok > ok.md',
          'ln -s /etc/passwd passwd',
          'mkdir d && ln -s ../../ada d/up',
          `printf x > "$(printf 'line\\nbreak')"`,
          `printf x > "$(printf 'latin\\351')"`,
          'mkfifo pipe',
          'mkdir -p g/.git && echo x > g/.git/config',
          'ln -s / /workspace/.suzumio-artifacts',
        ].join(' && '),
      ),
    },
    { agent: 'cal', steps: commands('ls /artifacts/cal; ls -A /workspace') },
    { agent: 'ada', steps: commands('ls -A /artifacts/cal') },
  ]);
  expect(await team.turn('cal:1')).toBe('');
  expect((await team.artifacts()).map(({ name }) => name)).toEqual(['g', 'ok.md']);
  const { json } = await team.ended('cal:1');
  const { attempts } = JSON.parse(json) as { attempts: { stats: Record<string, unknown> }[] };
  expect(attempts[0]?.stats).toMatchObject({
    leftOut: { count: 2, names: expect.arrayContaining(['/artifacts/cal/pipe']) },
    unpublished: {
      count: 3,
      items: [
        { name: 'd', why: '"up" in it is a link' },
        { name: 'line\nbreak', why: 'an artifact cannot have this name' },
        { name: 'passwd', why: 'it is a link' },
      ],
    },
  });
  // What Git would take for its own is nobody's file.
  expect(await team.turn('ada:1')).toBe(
    "ok.md\n[1 of the others' artifacts cannot be files, and are not in /artifacts.]",
  );
  expect(await team.turn('cal:2')).toBe('d\ng\nline?break\nok.md\npasswd');
  expect(team.broken()).toEqual([]);
});
