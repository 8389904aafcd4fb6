import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { TestRepository } from '../services/turn-worker/test/support/repository.js';
import { mountable } from './support/mountable.js';

// Starts: cli.

const repository = join(import.meta.dirname, '..');
const page = readFileSync(join(repository, 'docs', 'working-beside-a-team.md'), 'utf8');
const blocks = [...page.matchAll(/^```(\w*) *(\w*)\n([^]*?)^```/gm)].map(([, language = '', kind = '', text = '']) => ({
  language,
  kind,
  text,
}));

const refresh = { tool: 'workspace.git.refresh', input: {} };
const publish = { tool: 'artifacts.publish', input: { patch: true } };
const answer = (body: string) => ({ tool: 'messages.reply', input: { message: '{{mail.0.id}}', body } });
const run = (...commands: string[]) => ({ run: { command: commands.join(' && ') } });
const fromShared = 'git fetch -q shared && git checkout -q -B work shared/main';

/** What the developer of the page does, whoever thinks for it. */
const turns: object[][] = [
  [run("sed -i 's/readings\\[:-1\\]/readings/' levels.py"), publish, answer('Mended.')],
  [refresh, run("sed -i 's/mean(readings)/round(mean(readings), 2)/' levels.py"), publish, answer('Rounded.')],
  [
    refresh,
    run(fromShared, 'git log --format=%s', 'echo 3.2 > june.csv', 'git add june.csv', 'git commit -qm June'),
    run('git push -q shared HEAD:suzumio/developer'),
    answer('It begins at: {{steps.1.output}}'),
  ],
  [
    run(fromShared, 'echo North gauge. > source.md', 'git add source.md', 'git commit -qm Source'),
    run('git push -q shared HEAD:main'),
    answer('Noted.'),
  ],
];
const backend = {
  kind: 'process',
  runner: {
    mode: 'mock',
    script: turns.map((steps, index) => ({ agent: 'developer', when: { turn: index + 1 }, steps })),
  },
};

let base: string;
let own: TestRepository;
let world: CliWorld;
beforeAll(async () => {
  base = mkdtempSync(join(mountable, 'suzumio-day-'));
  own = new TestRepository(join(base, 'tides'));
  own.commit({ 'levels.py': 'from gauge import mean, readings\n\nprint(mean(readings[:-1]))\n' }, 'First');
  world = await createCliWorld();
  await world.serve();
  mkdirSync(join(base, 'bin'));
  const program = `#!/bin/sh\nexec '${process.execPath}' '${join(repository, 'cli', 'bin', 'suzumio.js')}' "$@"\n`;
  writeFileSync(join(base, 'bin', 'suzumio'), program, { mode: 0o755 });
});
afterAll(async () => {
  await world.remove();
  rmSync(base, { recursive: true, force: true });
});

/** Runs a block of the page as its reader does. */
async function shell(text: string): Promise<{ code: number; out: string; err: string }> {
  const person = (name: string) => ({ [`GIT_${name}_NAME`]: 'Yuki', [`GIT_${name}_EMAIL`]: 'yuki@example.org' });
  const env = {
    PATH: [join(base, 'bin'), process.env['PATH']].join(delimiter),
    HOME: base,
    SUZUMIO_ROOT: world.root,
    SUZUMIO_POLICY_FILE: join(world.directory, 'policy.yaml'),
    ...person('AUTHOR'),
    ...person('COMMITTER'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const options = { cwd: own.path, env, timeout: 120_000 };
  try {
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', text], options);
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

test('the day goes as the page says, each command in its order', async () => {
  const yaml = blocks.find(({ language }) => language === 'yaml')?.text ?? '';
  writeFileSync(join(own.path, 'tides.yaml'), `${yaml}backend: ${JSON.stringify(backend)}\n`);
  let said = '';
  for (const { language, kind, text } of blocks) {
    // What the command before has printed.
    if (language === '') expect(said).toBe(text);
    if (language !== 'sh') continue;
    const { code, out, err } = await shell(text);
    const wanted = kind === 'refused' ? 3 : 0;
    expect({ text, code, said: code === wanted ? '' : out + err }).toEqual({ text, code: wanted, said: '' });
    said = code === 0 ? out : err;
    if (text.includes('patch apply')) expect(out).toContain('+print(mean(readings))');
    // What the person has pushed is what the agent fetches.
    if (text.includes('readings of June')) expect(out).toMatch(/It begins at: Round the mean\s+Say the unit/);
    if (text.includes('git log --oneline')) expect(out).toMatch(/^\w+ June$/m);
  }
  expect(own.git('log', '--format=%s', '--first-parent').split('\n')).toEqual([
    "Merge remote-tracking branch 'suzumio/tides/main'",
    'Note what is missing',
    'June',
    'Round the mean',
    'Say the unit',
    'Count the last reading',
    'First',
  ]);
  expect(readFileSync(join(own.path, 'levels.py'), 'utf8')).toContain('print(round(mean(readings), 2))');
  const clone = join(base, 'tides-of-the-team');
  expect(['june.csv', 'source.md', 'todo.md'].filter((name) => !existsSync(join(clone, name)))).toEqual([]);
  expect(own.git('status', '--porcelain').split('\n').sort()).toEqual(['?? tides.bundle', '?? tides.yaml']);
});
