import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { mountable } from './support/mountable.js';
import { eventually } from './support/poll.js';
import { openProject } from './support/project.js';

// A toolpack of a living project: it comes, changes, goes and comes back, also while a turn runs whose runner is killed.

let world: CliWorld;
let directory: string;
beforeAll(async () => {
  directory = realpathSync(mkdtempSync(join(mountable, 'suzumio-living-')));
  world = await createCliWorld();
  await world.serve();
});
afterAll(async () => {
  await world.remove();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(() => {
  for (const name of ['pid', 'go']) rmSync(join(directory, name), { force: true });
});

/** Writes the toolpack, whose tools say a word: one at once, one after it was told to go on. */
function writePack(word: string, tools = ['say', 'wait']): void {
  mkdirSync(join(directory, 'own'), { recursive: true });
  const manifest = { id: 'own', tools: tools.map((name) => ({ name: `own.${name}` })) };
  writeFileSync(join(directory, 'own/suzumio.toolpack.json'), JSON.stringify(manifest));
  writeFileSync(
    join(directory, 'own/runner.mjs'),
    `import { existsSync, writeFileSync } from 'node:fs';
     export const createRunnerToolpack = ({ callSupport }) => ({
       'own.say': async () => ({ output: '${word} ' + (await callSupport('own.say', {})).output }),
       'own.wait': async () => {
         writeFileSync(${JSON.stringify(join(directory, 'pid'))}, String(process.ppid));
         while (!existsSync(${JSON.stringify(join(directory, 'go'))})) await new Promise((go) => setTimeout(go, 20));
         return { output: '${word}' };
       },
     });`,
  );
  writeFileSync(
    join(directory, 'own/controller.mjs'),
    `export const createControllerToolpack = () => ({ support: () => ({ output: 'and ${word}' }) });`,
  );
}

const say = { tool: 'own.say', input: {}, allowError: 'tool-not-allowed' };
const script = [
  { agent: 'dev', when: { contains: 'Wait' }, steps: [{ tool: 'own.wait', input: {} }, say, { text: 'Done.' }] },
  { agent: 'dev', steps: [say, { text: 'Done.' }] },
];

function writeFile(name: string, hasPack: boolean): string {
  const file = join(directory, `${name}.yaml`);
  const config = {
    name,
    task: 'Say it.',
    backend: {
      kind: 'process',
      runner: { mode: 'mock', script: hasPack ? script : [{ agent: 'dev', steps: [{ text: 'Done.' }] }] },
    },
    agents: { dev: { role: 'speaker', prompt: 'Speak.', tools: ['*'] } },
    ...(hasPack ? { tools: { toolpacks: [{ path: './own' }] } } : {}),
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

const allowed = () => ['--allow-toolpack', join(directory, 'own')];
const apply = (name: string, hasPack: boolean) =>
  world.run('config', 'apply', name, writeFile(name, hasPack), '--yes', '--json', ...(hasPack ? allowed() : []));

/** A project without the toolpack, which runs. */
async function started(name: string): Promise<void> {
  expect(await world.run('init', writeFile(name, false))).toMatchObject({ code: 0 });
  expect(await world.run('start', name)).toMatchObject({ code: 0 });
}

interface Told {
  version: number;
  attempt: number;
  status: string;
  said: (string | null)[];
}

/** The turns of a project: with which version each ran, in how many attempts, and what its calls of the toolpack came to. */
function turns(name: string): Told[] {
  const project = openProject(world.root, name);
  try {
    return project
      .all<{ id: string; version: number; attempt: number; status: string }>(
        'SELECT id, config_version AS version, attempt, status FROM turns ORDER BY rowid',
      )
      .map(({ id, ...turn }) => ({
        ...turn,
        said: project
          .all<{ said: string | null }>(
            `SELECT coalesce(error_code, output_json ->> '$') AS said FROM tool_calls
             WHERE turn_id = :id AND tool LIKE 'own.%' AND step NOT LIKE '%/%' ORDER BY seq`,
            { id },
          )
          .map(({ said }) => said),
      }));
  } finally {
    project.close();
  }
}

async function ended(name: string, count: number): Promise<Told | undefined> {
  await eventually('its turns are over', () => {
    const all = turns(name);
    return all.length === count && all.every(({ status }) => !['queued', 'running'].includes(status));
  });
  return turns(name).at(-1);
}

async function played(name: string, count: number): Promise<Told | undefined> {
  expect(await world.run('send', name, 'dev', 'P1', 'Speak.')).toMatchObject({ code: 0 });
  return ended(name, count);
}

/** Has a turn begin, and waits until its call of the toolpack has. */
async function waiting(name: string): Promise<void> {
  expect(await world.run('send', name, 'dev', 'P1', 'Wait, and speak.')).toMatchObject({ code: 0 });
  await begun();
}

const begun = () => eventually('its call has begun', () => existsSync(join(directory, 'pid')));
const goOn = () => {
  writeFileSync(join(directory, 'go'), '');
};

test('comes, changes, goes and comes back, from the next turn on', async () => {
  writePack('one');
  await started('tides');
  expect(await played('tides', 1)).toMatchObject({ version: 1, said: [] });
  const refused = await world.run('config', 'apply', 'tides', writeFile('tides', true), '--yes');
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining(`with ${allowed().join(' ')}`) });
  expect(await world.run('config', 'diff', 'tides', writeFile('tides', true))).toMatchObject({ code: 3 });

  const diff = await world.run('config', 'diff', 'tides', writeFile('tides', true), ...allowed());
  expect(diff).toMatchObject({ code: 0, out: expect.stringContaining('tools.toolpacks.own  next turn\n') });
  expect(await apply('tides', true)).toMatchObject({ code: 0 });
  expect(await played('tides', 2)).toMatchObject({ version: 2, said: ['one and one'] });

  writePack('two');
  const changed = await world.run('config', 'diff', 'tides', writeFile('tides', true));
  expect(changed.out).toMatch(
    /^tools\.toolpacks\.own\.files\.controller\.mjs {2}next turn\n {2}- "?\d+ B, sha256 [0-9a-f]{64}"?\n {2}\+ "?\d+ B/m,
  );
  expect(changed.out).toContain('2 changes.\n');
  expect(await played('tides', 3)).toMatchObject({ version: 2, said: ['one and one'] });
  expect(await apply('tides', true)).toMatchObject({ code: 0 });
  expect(await played('tides', 4)).toMatchObject({ version: 3, said: ['two and two'] });

  expect(await apply('tides', false)).toMatchObject({ code: 0 });
  expect(await played('tides', 5)).toMatchObject({ version: 4, said: [] });

  rmSync(join(directory, 'own'), { recursive: true });
  expect(await world.run('config', 'revert', 'tides', '2', '--yes')).toMatchObject({ code: 0 });
  expect(await played('tides', 6)).toMatchObject({ version: 5, said: ['one and one'] });
  expect(await world.run('verify')).toMatchObject({ code: 0 });
});

test('stays what it was in a turn that runs, also one whose runner was killed', async () => {
  writePack('one');
  await started('killed');
  expect(await apply('killed', true)).toMatchObject({ code: 0 });
  await waiting('killed');
  writePack('two', ['say', 'wait', 'more']);
  expect(await apply('killed', true)).toMatchObject({ code: 0 });
  const pid = Number(readFileSync(join(directory, 'pid'), 'utf8'));
  rmSync(join(directory, 'pid'));
  process.kill(pid, 'SIGKILL');
  expect(await ended('killed', 1)).toMatchObject({ attempt: 1, status: 'failed' });
  expect(await world.run('agents', 'retry', 'killed', 'dev')).toMatchObject({ code: 0 });
  await begun();
  goOn();
  expect(await ended('killed', 1)).toMatchObject({
    version: 2,
    attempt: 2,
    status: 'completed',
    said: ['one', 'one and one'],
  });
  expect(await played('killed', 2)).toMatchObject({ version: 3, attempt: 1, said: ['two and two'] });
});

test('is refused at once where it is taken away, in a turn that runs, too', async () => {
  writePack('one');
  await started('taken');
  expect(await apply('taken', true)).toMatchObject({ code: 0 });
  await waiting('taken');
  expect(await apply('taken', false)).toMatchObject({ code: 0 });
  goOn();
  expect(await ended('taken', 1)).toMatchObject({
    version: 2,
    status: 'completed',
    said: ['one', 'tool-not-allowed'],
  });
});
