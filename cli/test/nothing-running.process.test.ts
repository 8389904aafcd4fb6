import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { whyAnswer } from '@suzumio/contract/model/why';
import { projectDetailAnswer } from '@suzumio/contract/operations/projects';
import { Cell } from '@suzumio/store/cell/cell';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { TestRepository } from '../../services/turn-worker/test/support/repository.js';
import { mountable } from '../../test/support/mountable.js';
import { type CliWorld, createCliWorld, notesProject } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

describe('init', () => {
  test('makes a project in the data directory and suggests what comes next', async () => {
    const file = await world.write('notes.yaml', notesProject('notes'));
    const { code, out, err } = await world.run('init', file);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.replaceAll(world.root, 'ROOT').split('\n')).toEqual([
      'notes is initialized: 2 agents, 1 channel',
      'data: ROOT/projects/notes',
      'next: suzumio serve',
      '      suzumio start notes',
      '      suzumio send notes writer P1 "…"',
      '',
    ]);
    const again = await world.run('init', file);
    expect(again).toEqual({
      code: 3,
      out: '',
      err: 'There is a project "notes" already, and it stays as it is: give this one another name, or delete that one first.\nnext: suzumio status\n',
    });
  });

  test('tells everything that is wrong with a file, each with its place, and makes nothing', async () => {
    const file = await world.write(
      'draft.yaml',
      'name: draft\ntask: Try.\nbackend: { runner: { mode: mock } }\nagents:\n  editor:\n    role: editor\n    prompt: Go.\n    tools: [messages.sned]\n  checker: { role: checker, propmt: Go. }\n',
    );
    const { code, out, err } = await world.run('init', file);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err.replaceAll(file, 'draft.yaml').split('\n')).toEqual([
      'draft.yaml:8:13  unknown tool "messages.sned" for agent editor: did you mean messages.send?',
      'draft.yaml:9:29  unknown field in agents.checker `propmt`: did you mean `prompt`?',
      '',
    ]);
    expect(existsSync(world.root)).toBe(false);
  });

  test('refuses what this version does not enforce', async () => {
    const packs = 'tools: { toolpacks: [core, web, { id: own, mcp: { url: "https://t.example" } }] }\n';
    const file = await world.write('web.yaml', `${notesProject('web')}${packs}`);
    const { code, err } = await world.run('init', file);
    expect(code).toBe(3);
    expect(err).toContain(
      'tools.toolpacks: the toolpack own is not supported yet: only core, memory, files, shell, workspace and directories of your own are served yet',
    );
  });

  test('is for the server that is named, and for its policy', async () => {
    const file = await world.write('notes.yaml', notesProject('notes'));
    world.setEnvironment({ SUZUMIO_URL: 'http://127.0.0.1:1', SUZUMIO_TOKEN: 'none' });
    expect(await world.run('init', file)).toMatchObject({ code: 4 });
    const { code, err } = await world.run('init', file, '--allow-process');
    expect([code, err]).toEqual([3, expect.stringContaining('leave out --allow-process')]);
    expect(existsSync(world.root)).toBe(false);
  });
});

test('config check tells what is wrong with a file itself before it asks for a server', async () => {
  const file = await world.write('notes.yaml', notesProject('notes').replace('task:', 'tsak:'));
  const wrong = await world.run('config', 'check', file);
  expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining('did you mean `task`?') });
  const right = await world.run('config', 'check', await world.write('right.yaml', notesProject('right')));
  expect(right).toMatchObject({ code: 4, err: expect.stringContaining('No Suzumio server is running') });
});

describe('config render', () => {
  test('prints a file that renders to itself', async () => {
    const file = await world.write('notes.yaml', notesProject('notes'));
    const rendered = await world.run('config', 'render', file);
    expect(rendered).toMatchObject({ code: 0, err: '' });
    expect(rendered.out).toMatch(/^rendered: 1\nname: notes\n/);
    const again = await world.run('config', 'render', await world.write('rendered.yaml', rendered.out));
    expect(again.out).toBe(rendered.out);
  });

  test("shows no value of an agent's variable unless it is told to", async () => {
    world.setEnvironment({ DB_PASSWORD: 'hunter2' });
    const given = 'displayName: Ren, env: { DB_PASSWORD: "${DB_PASSWORD}" }';
    const file = await world.write('notes.yaml', notesProject('notes').replace('displayName: Ren', given));
    for (const args of [[], ['--json']]) {
      const { code, out, err } = await world.run('config', 'render', file, ...args);
      expect([code, err, out.includes('hunter2'), out.includes('(hidden)')]).toEqual([0, '', false, true]);
    }
    const { out } = await world.run('config', 'render', file, '--show-env');
    expect(out).toContain('hunter2');
    expect(await world.run('init', await world.write('rendered.yaml', out))).toMatchObject({ code: 0 });
    // What was hidden is no value: it would be given to containers as one.
    const hidden = await world.write(
      'hidden.yaml',
      out.replaceAll('hunter2', '(hidden)').replace('name: notes', 'name: other'),
    );
    const { code, err } = await world.run('init', hidden);
    expect([code, err]).toEqual([3, expect.stringContaining('--show-env')]);
  });

  test('tells what is probably not meant, and goes on', async () => {
    const file = await world.write(
      'notes.yaml',
      notesProject('notes').replace('displayName: Ren', 'displayName: writer'),
    );
    const { code, err } = await world.run('config', 'render', file);
    expect(code).toBe(0);
    expect(err).toContain('warning: the name writer stands for more than one participant');
  });

  test('warns of what is to be cloned and is no repository', async () => {
    const place = await mkdtemp(join(mountable, 'suzumio-clones-'));
    const warned = async (name: string, git: string) => {
      const file = notesProject(name).replace('prompt: Write.', `prompt: Write., workspace: { git: ${git} }`);
      await writeFile(join(place, `${name}.yaml`), file);
      const { err } = await world.run('init', join(place, `${name}.yaml`));
      return err.replaceAll(place, 'HERE');
    };
    try {
      expect(await warned('absent', './none')).toBe(
        'warning: HERE/none is no Git repository; turns that clone it fail until it is one.\n',
      );
      new TestRepository(join(place, 'one')).commit({ 'src/a.txt': 'a\n' });
      expect(await warned('below', './one/src')).toContain(
        'HERE/one/src is no Git repository (it is part of one: name HERE/one)',
      );
      expect(await warned('itself', './one')).toBe('');
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });
});

describe('with no server running', () => {
  beforeEach(async () => {
    await world.run('init', await world.write('notes.yaml', notesProject('notes')));
  });

  test('commands that only read, read the data directory', async () => {
    expect(await world.run('status', 'notes')).toEqual({
      code: 0,
      err: '',
      out: [
        'notes   initialized, not started yet     0 turns, 0 tokens',
        '  writer  quiet',
        '  reader  quiet',
        'next: suzumio start notes',
        '',
      ].join('\n'),
    });
    expect((await world.run('status')).out).toBe('notes   initialized, not started yet   0 turns, 0 tokens\n');
    for (const kind of ['messages', 'turns', 'artifacts']) {
      expect(await world.run(kind, 'notes')).toEqual({ code: 0, out: `notes has no ${kind} yet.\n`, err: '' });
      expect(JSON.parse((await world.run(kind, 'notes', '--json')).out)).toEqual([]);
    }
    expect((await world.run('events', 'notes')).out).toContain('project.initialized');
    const watch = await world.run('watch', 'notes');
    expect(watch.code).toBe(0);
    expect(watch.out).toMatch(
      /initialized with 2 agents\n.*next: suzumio start notes\n\nNo server is running for .*\nnext: suzumio serve\n$/,
    );
  });

  test('a project that was left running is not said to go on', async () => {
    const cell = Cell.open(world.root, {});
    await cell.stores.use('notes', (store) => store.write((tx) => startProject(tx, 'test')));
    await cell.close();
    const unserved = `\nNo server is running for ${world.root}: this is how it was left, and it goes on when one runs.\n`;
    const { out } = await world.run('status', 'notes');
    expect(out).toMatch(/^notes {3}running, all quiet/);
    expect(out).toContain(`${unserved}next: suzumio serve\n`);
    expect((await world.run('status')).out).toMatch(new RegExp(`^notes .*\n${unserved}$`));
    expect(projectDetailAnswer.parse(JSON.parse((await world.run('status', 'notes', '--json')).out))).toBeTruthy();
  });

  test('why an agent is quiet is known as far as the data directory says it', async () => {
    expect(await world.run('why', 'notes', 'writer')).toEqual({
      code: 0,
      err: '',
      out: [
        'writer is quiet.',
        '- The project has not been started yet.',
        '- It has no unread mail, and only mail starts a turn.',
        '',
        `No server is running for ${world.root}: this is how it was left, and it goes on when one runs.`,
        'next: suzumio serve',
        '      suzumio start notes',
        '      suzumio send notes writer P1 "…"',
        '',
      ].join('\n'),
    });
    expect((await world.run('why', 'notes')).out).toMatch(/^writer, reader: The project has not been started yet\./);
    const { out } = await world.run('why', 'notes', 'writer', '--json');
    expect(whyAnswer.parse(JSON.parse(out)).reasons.map(({ code }) => code)).toEqual([
      'project-initialized',
      'no-mail',
    ]);
  });

  test('usage is added up, with the day and its budget', async () => {
    expect((await world.run('usage')).out).toMatch(
      /^No model has been asked\.\nstored: 0 bytes of files, \d+ bytes of rows; [\d.]+ [kMGT]i?B free\n$/,
    );
    world.setEnvironment({ SUZUMIO_BUDGET_USD_PER_DAY: '5' });
    expect((await world.run('usage', '--by', 'day')).out).toMatch(
      /^No model has been asked\.\ntoday, all projects: \$0\.00 of \$5\.00 spent; \$5\.00 left\nstored: /,
    );
    expect((await world.run('budget', 'notes')).out).toContain('the project  $0.00, unlimited');
    expect((await world.run('memory', 'notes', 'writer')).out).toContain('writer has no summary');
    expect(await world.run('budget', 'notes', '--usd', '5')).toMatchObject({ code: 4 });
    expect(await world.run('pause', '--all')).toMatchObject({ code: 4 });
  });

  test('what is not there is said', async () => {
    expect(await world.run('report', 'notes')).toMatchObject({
      code: 3,
      err: expect.stringContaining('No report has been submitted yet'),
    });
    expect(await world.run('turns', 'show', 'notes', 'writer:1')).toMatchObject({
      code: 3,
      err: expect.stringContaining('write its id, or agent:number'),
    });
    for (const command of ['status', 'messages', 'watch']) {
      const { code, err } = await world.run(command, 'noets');
      expect([code, err]).toEqual([3, `There is no project "noets" in ${world.root}.\nnext: suzumio status\n`]);
    }
  });

  test.each([
    ['start', 'notes'],
    ['stop', 'notes'],
    ['approve', 'notes'],
    ['send', 'notes', 'writer', 'P1', 'Good', 'evening'],
    ['request-changes', 'notes', 'writer', 'More'],
    ['agents', 'retry', 'notes', 'writer'],
    ['agents', 'reset', 'notes', 'writer'],
    ['agents', 'stop', 'notes', 'writer'],
    ['agents', 'start', 'notes', 'writer'],
    ['retry', 'notes', '--failed'],
    ['cancel', 'notes', 'writer:1'],
    ['tick'],
    ['workers'],
    ['logs', 'notes', 'writer', '--follow'],
  ])('%s says that none runs and how to start one', async (...args) => {
    expect(await world.run(...args)).toEqual({
      code: 4,
      out: '',
      err: `No Suzumio server is running for ${world.root}.\nnext: suzumio serve\n`,
    });
  });

  test('suggested commands lead to the same data directory', async () => {
    const { err } = await world.run('start', 'notes', '--root', '/nowhere/at all');
    expect(err).toContain("next: suzumio --root '/nowhere/at all' serve");
  });

  test('a policy that is written wrongly keeps nobody from what does not ask it', async () => {
    await writeFile(join(world.directory, 'policy.yaml'), 'backend: [docker]\n');
    expect(await world.run('messages', 'notes')).toMatchObject({ code: 0, err: '' });
    expect(await world.run('turns', 'notes')).toMatchObject({ code: 0, err: '' });
    const { code, err } = await world.run('status', 'notes');
    expect([code, err]).toEqual([3, expect.stringContaining('unknown field `backend`')]);
  });

  test('a damaged project is told where it is asked for, and fails no other list', async () => {
    const file = await world.write('other.yaml', notesProject('other'));
    await world.run('init', file, '--label', 'desk=north');
    await writeFile(join(world.root, 'projects', 'other', 'project.db'), 'no database');
    const broken = expect.stringContaining('other: store-corrupt: ') as unknown;
    expect(await world.run('status')).toMatchObject({ code: 1, err: broken });
    expect(await world.run('status', '--label', 'desk=north')).toMatchObject({ code: 1, err: broken });
    expect(await world.run('status', '--state', 'initialized')).toMatchObject({ code: 1, err: broken });
    expect(await world.run('status', '--label', 'desk=south')).toMatchObject({ code: 0, err: '' });
    expect(await world.run('status', '--state', 'running')).toMatchObject({ code: 0, err: '' });
  });

  test('errors are problem documents with --json', async () => {
    const { code, err } = await world.run('start', 'notes', '--json');
    expect(code).toBe(4);
    expect(JSON.parse(err)).toMatchObject({ code: 'server-unreachable', status: 503, retryable: true });
  });
});

test('a directory that is named with --root is meant, also where the shell knows a server', async () => {
  await world.run('init', await world.write('notes.yaml', notesProject('notes')));
  world.setEnvironment({ SUZUMIO_URL: 'http://127.0.0.1:1', SUZUMIO_TOKEN: 'none' });
  expect(await world.run('--root', world.root, 'verify')).toMatchObject({
    code: 0,
    out: expect.stringContaining('All is whole.') as unknown,
  });
  const { code, err } = await world.run('verify');
  expect([code, err]).toEqual([3, expect.stringContaining('name it with --root')]);
});

test('a data directory that is not there has no projects, and none is made', async () => {
  const { code, out } = await world.run('status');
  expect([code, out]).toEqual([0, `No projects in ${world.root} yet.\n`]);
  expect(existsSync(world.root)).toBe(false);
});

describe("another user's data directory", () => {
  /** Runs a command as somebody who may not look into the data directory, whoever runs the tests. */
  async function asStranger(args: string[], { mayRead = false } = {}) {
    const root = process.geteuid?.() === 0;
    if (mayRead) await chmod(world.directory, 0o755);
    await chmod(world.root, mayRead ? 0o555 : root ? 0o700 : 0);
    if (root) process.seteuid?.(65_534);
    try {
      return await world.run(...args);
    } finally {
      if (root) process.seteuid?.(0);
      await chmod(world.root, 0o700);
    }
  }

  test.each([[['status']], [['status', 'notes']], [['send', 'notes', 'writer', 'P1', 'Hello.']]])(
    '%j says that it cannot be read, not that nothing is there',
    async (args) => {
      await world.run('init', await world.write('notes.yaml', notesProject('notes')));
      // Whatever the command loads is read while that is allowed.
      await world.run(...args);
      const { code, out, err } = await asStranger(args);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toContain(`The data directory ${world.root} cannot be read: EACCES: permission denied`);
      expect(err).toContain('Run this as the user whom it belongs to');
    },
  );

  test.each([
    [['status']],
    [['status', 'notes']],
    [['tokens', 'list']],
    [['tokens', 'create', 'ci', '--scope', 'read']],
  ])('%j says so where it may be read, but the database not be used', async (args) => {
    await world.run('init', await world.write('notes.yaml', notesProject('notes')));
    await world.run(...args);
    // Whoever wrote last took the files with it that readers of the catalog share, and would have to make.
    await world.run('init', await world.write('other.yaml', notesProject('other')));
    const { code, out, err } = await asStranger(args, { mayRead: true });
    expect(code).toBe(1);
    expect(`${out}${err}`).toContain(`The data directory ${world.root} cannot be read: `);
    expect(`${out}${err}`).toContain('Run this as the user whom it belongs to');
    expect(`${out}${err}`).not.toContain('    at ');
  });
});

describe('on a Node.js that is too old', () => {
  const older = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
  const bin = fileURLToPath(new URL('../bin/suzumio.js', import.meta.url));
  const version = async (command: string) => {
    const args = ['--import', `data:text/javascript,${older}`, command, '--version'];
    const ended: unknown = await promisify(execFile)(process.execPath, args).catch((error: unknown) => error);
    const { code = 0, stdout, stderr } = ended as { code?: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  };

  test('a clone runs on the one that it has installed', async () => {
    expect(await version(bin)).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/), stderr: '' });
  });

  test('where there is none, what to do is said', async () => {
    const alone = await world.write('suzumio.mjs', await readFile(bin, 'utf8'));
    const { code, stdout, stderr } = await version(alone);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^suzumio needs Node\.js 22 or later; \S+ is v\S+\.\nnext: npm run build {3}\(in the clone: it installs one; or put a newer one first on the PATH\)\n$/,
    );
  });

  test('where nothing was built, neither', async () => {
    const alone = await world.write('suzumio.mjs', await readFile(bin, 'utf8'));
    const ended: unknown = await promisify(execFile)(process.execPath, [alone, '--version']).catch(
      (error: unknown) => error,
    );
    expect(ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'suzumio is not built yet.\nnext: npm run build   (in the clone)\n',
    });
  });
});

describe('a server that was asked for by name', () => {
  test('needs a token', async () => {
    const { code, err } = await world.run('status', '--url', 'http://127.0.0.1:1');
    expect([code, err]).toEqual([3, expect.stringContaining('SUZUMIO_TOKEN')]);
  });
});

describe('a command that is written wrongly', () => {
  test.each([
    [['stauts'], "unknown command 'stauts'\n(Did you mean status?)"],
    [['status', '--jsno'], "unknown option '--jsno'\n(Did you mean --json?)"],
    [['turns', 'show', 'notes'], "missing required argument 'turn'"],
    [['send', 'notes', 'writer', 'Good evening', 'all'], 'P0, P1, P2 or P3'],
    [['messages', 'notes', '--limit', '0'], 'a whole number from 1 to 1000'],
    [['serve', '--port', '70000'], 'a whole number from 0 to 65535'],
    [['teams', 'up', 'desk', '--allow-provider', 'http://a/v1=KEY'], '--allow-provider is about a project file'],
    [['messages', 'show', 'notes', '12', '--since', '1d'], "unknown option '--since'"],
    [['messages', '--since', '1d', 'show', 'notes', '12'], "unknown option '--since'"],
    [['up', '--config-root', '/a'], '--config-root is about a project file: name it.'],
    [['up', '--url', 'http://127.0.0.1:1', '--port', '0'], '--port is for a server that up starts'],
    [['init', '--label', 'a=b'], '--label is about a project file: name it.'],
    [['serve', '--url', 'http://127.0.0.1:1'], 'serve asks no server: leave out --url'],
    [['config', 'render', 'a.yaml', '--url', 'http://127.0.0.1:1'], 'render asks no server: leave out --url'],
  ])('%j is not tried', async (args, message) => {
    const { code, err } = await world.run(...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).toMatch(/next: suzumio .*--help\n$/);
  });

  test('the help and the version are no failures', async () => {
    expect(await world.run('--help')).toMatchObject({ code: 0, out: expect.stringContaining('Exit codes:') });
    expect(await world.run('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
