import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/poll.js';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeEach(async () => (box = await createSandbox()));
afterEach(() => box.remove());

const exec = (command: string, more: object = {}, call = {}) => box.run('shell.exec', { command, ...more }, call);

/** Whether a process runs: one that has ended and was not waited for does not. */
async function runs(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return stat !== '' && !stat.includes(') Z ');
}

async function processesNamed(command: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of await readdir('/proc')) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    if (words === `${command.replaceAll(' ', '\0')}\0` && (await runs(Number(pid)))) found.push(pid);
  }
  return found;
}

async function pidIn(file: string): Promise<number> {
  let pid = 0;
  await eventually('a process wrote its number', async () => {
    pid = Number(await readFile(join(box.workspace, file), 'utf8').catch(() => ''));
    return pid > 0;
  });
  return pid;
}

describe('a command', () => {
  test('tells both streams, its exit code and its time', async () => {
    const { output, metadata } = await exec('echo out; echo err >&2; exit 3');
    expect(output).toMatch(/^\[exit code 3, \d+ ms\]\n\[stdout\]\nout\n\[stderr\]\nerr$/);
    expect(metadata).toMatchObject({ exitCode: 3, signal: null, timedOut: false, truncated: false });
    expect(box.logged()).toBe('out\nerr\n');
  });

  test('runs in the workspace or in a directory of it, with its environment and without input', async () => {
    await mkdir(join(box.workspace, 'sub'));
    expect((await exec('pwd; echo "$PWD $HOME $PAGER"; cat; [ -t 0 ] || echo none')).output).toContain(
      `${box.workspace}\n${box.workspace} ${box.root} cat\nnone`,
    );
    expect((await exec('pwd', { cwd: 'sub' })).output).toContain(`${box.workspace}/sub`);
    expect((await exec('pwd', { cwd: box.mount })).output).toContain(box.mount);
  });

  test('is for bash where there is one, else for sh', async () => {
    expect((await exec('echo ${BASH_VERSION:+bash}')).output).toContain('[stdout]\nbash');
    const plain = await createSandbox({ env: { PATH: box.outside } });
    expect((await plain.run('shell.exec', { command: 'echo ${BASH_VERSION:-sh}' })).output).toContain('[stdout]\nsh');
    await plain.remove();
  });

  test.each([
    ['cwd', { cwd: 'missing' }, 'directory-unknown'],
    ['cwd', { cwd: 'file' }, 'not-a-directory'],
    ['cwd', { cwd: 'away' }, 'path-outside'],
    ['NUL', { command: 'a\0b' }, 'input-invalid'],
    ['nothing', { command: '' }, 'input-invalid'],
  ])('is refused for its %s: %j', async (_, input, code) => {
    await writeFile(join(box.workspace, 'file'), '');
    await symlink('../outside', join(box.workspace, 'away'));
    expect(await box.refused('shell.exec', { command: 'true', ...input })).toMatchObject({ code });
  });

  test('that is too long for the system is told to be that, with a way out', async () => {
    const { code, message } = await box.refused('shell.exec', { command: `: ${'é'.repeat(99_000)}` });
    expect([code, message]).toEqual([
      'input-invalid',
      'The command is too long to be started: it has 198002 bytes. Write it to a file with file.write, and run that.',
    ]);
  });

  test('that does not exist, or dies, is told of', async () => {
    expect((await exec('no-such-program')).output).toMatch(/^\[exit code 127.*not found$/s);
    expect((await exec('kill -SEGV $$')).output).toMatch(/^\[exit code 139: SIGSEGV, it used memory that/);
    expect((await exec('sh -c "kill -BUS \\$\\$"')).output).toMatch(/^\[exit code 135: SIGBUS, .*\/dev\/shm/);
  });

  test('that prints what a terminal would show is read without it', async () => {
    expect((await exec(String.raw`printf '\033[31mred\033[0m \000 \377'`)).output).toContain('[stdout]\nred ␀ \ufffd');
  });
});

describe('output', () => {
  test('is cut in its middle, and all of it is in a file', async () => {
    const { output, metadata } = await exec('seq 100000', { maxOutputBytes: 300 }, { step: '4.1' });
    expect(Buffer.byteLength(output)).toBeLessThan(600);
    expect(output).toContain('[stdout]\n1\n2\n3\n');
    expect(output).toContain('bytes left out');
    expect(output).toContain('\n100000\n');
    expect(output).toMatch(/\[All of it is in \.suzumio\/output\/4\.1\.txt, for file\.read and file\.search\.\]$/);
    expect(metadata).toMatchObject({ truncated: true, outputFile: '.suzumio/output/4.1.txt' });
    const { output: read } = await box.run('file.read', { path: '.suzumio/output/4.1.txt', offset: 50_000, limit: 1 });
    expect(read).toMatch(/^50000\t50000\n/);
    expect(await readFile(join(box.workspace, '.suzumio/.gitignore'), 'utf8')).toBe('*\n');
    // The call of an earlier attempt: its file makes way.
    await exec('seq 100001', { maxOutputBytes: 300 }, { step: '4.1' });
    expect(await readFile(join(box.workspace, '.suzumio/output/4.1.txt'), 'utf8')).toMatch(/\n100001\n$/);
  });

  test('that is short leaves no file', async () => {
    await exec('echo a');
    expect(await readdir(box.workspace)).toEqual([]);
  });

  test('of one stream leaves room for the other', async () => {
    const { output } = await exec('seq 100000; echo problem >&2', { maxOutputBytes: 300 });
    expect(output).toContain('[stderr]\nproblem');
  });

  test('of 1 GB is bounded in memory, in its file and in the log', async () => {
    const small = await createSandbox({ limits: { outputFileBytes: 1_000_000, loggedBytes: 1000 } });
    const before = process.memoryUsage.rss();
    const bytes = 1_000_000_000;
    const { output } = await small.run('shell.exec', {
      command: `head -c ${bytes} /dev/zero | tr "\\0" x; echo; echo end`,
      timeoutMs: 300_000,
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(bytes / 2);
    expect(output).toMatch(
      /end\n\[All of it is in \.suzumio\S+, for file.read and file.search. Only the first 1000000 bytes are kept\.\]$/,
    );
    expect(output.length).toBeLessThan(41_000);
    expect(small.logged()).toHaveLength(1000);
    await small.remove();
  });

  test('is not written where a link leads out', async () => {
    await symlink('../outside', join(box.workspace, '.suzumio'));
    const { output } = await exec('seq 100000', { maxOutputBytes: 300 });
    expect(output).toMatch(/\[What it printed could not all be kept: .*leads out/);
    expect(await readdir(box.outside)).toEqual([]);
  });
});

describe('what does not end by itself', () => {
  test('is ended after its time, and what it printed is told', async () => {
    const { output, metadata } = await exec('echo begun; sleep 600', { timeoutMs: 200 });
    expect(output).toMatch(/^\[timeout: ended after .*\n\[stdout\]\nbegun$/s);
    expect(metadata).toMatchObject({ timedOut: true, code: 'timeout', exitCode: null });
  });

  test('is killed where it will not end', async () => {
    const { metadata } = await exec('trap "" TERM; echo $$ > pid; while :; do sleep 1; done', { timeoutMs: 200 });
    expect(metadata).toMatchObject({ timedOut: true });
    expect(await runs(await pidIn('pid'))).toBe(false);
  });

  test('is ended with the turn', async () => {
    const controller = new AbortController();
    const call = exec('echo $$ > pid; sleep 600', {}, { signal: controller.signal });
    const pid = await pidIn('pid');
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(await runs(pid)).toBe(false);
  });

  test.each([
    ['in its group', 'sleep 600 & echo $! > pid'],
    ['without its streams', 'sleep 600 >/dev/null 2>&1 & echo $! > pid'],
    [
      'in a session of its own',
      'setsid sh -c "echo \\$\\$ > pid; exec sleep 600" & while [ ! -s pid ]; do sleep 0.01; done',
    ],
    [
      'as a daemon without streams',
      '(setsid nohup sh -c "echo \\$\\$ > pid; exec sleep 600" >/dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.01; done',
    ],
    [
      'without its environment',
      'env -i sh -c "echo \\$\\$ > pid; sleep 600; true" & while [ ! -s pid ]; do sleep 0.01; done',
    ],
  ])('is ended when a command leaves it behind %s, and told', async (_, command) => {
    const { output } = await exec(`${command}; echo done`);
    expect(output).toMatch(
      /\[stdout\]\ndone\n\[It left \d+ process(es)? behind, now ended: .*(sleep|sh).*Use background/,
    );
    expect(await runs(await pidIn('pid'))).toBe(false);
  });

  test('forks as fast as it can: all of it is ended', async () => {
    const name = `sleep 6${process.pid}`;
    const bomb = `f() { [ "$1" -gt 6 ] || { f $(($1 + 1)) & f $(($1 + 1)) & }; ${name}; }; f 0`;
    const { metadata } = await exec(bomb, { timeoutMs: 1500 });
    expect(metadata).toMatchObject({ timedOut: true });
    expect(await processesNamed(name)).toEqual([]);
  });

  test('may clean up before it is ended', async () => {
    const { output } = await exec('trap "sleep 0.3; echo cleaned; exit" TERM; sleep 600 & wait', { timeoutMs: 200 });
    expect(output).toContain('[stdout]\ncleaned');
  });

  test('kills its parent: we live on, and it is told', async () => {
    const { output } = await exec('echo before; kill -9 $PPID; sleep 600');
    expect(output).toMatch(/^\[ended by SIGKILL, .*\n\[stdout\]\nbefore\n\[It left \d+ process/s);
  });
});

describe('in the background', () => {
  const start = async (command: string, step: string): Promise<string> => {
    const { metadata } = await exec(command, { background: true }, { step });
    return metadata?.['handle'] as string;
  };
  const read = async (handle: string, more = {}): Promise<string> =>
    (await box.run('shell.read', { handle, ...more })).output;

  test('a command runs on, is read in parts, and stopped', async () => {
    const handle = await start('echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; sleep 600', '3.0');
    expect(handle).toBe('bg-3.0');
    await eventually('its first line', async () => (await read(handle, { offset: 0 })).includes('one'));
    expect(await read(handle)).toMatch(/^\[runs for .*; nothing new\]$/);
    await exec('touch go');
    await eventually('its second line', async () => (await read(handle, { offset: 0 })).includes('two'));
    expect(await read(handle, { offset: 0, maxOutputBytes: 4 })).toMatch(
      /^\[runs for .*; bytes 0 to 4; 4 bytes more, from offset 4\]\none$/,
    );
    const { output } = await box.run('shell.stop', { handle });
    expect(output).toMatch(/^\[.*SIGTERM after .*; bytes 4 to 8\]\ntwo$/);
    expect(await box.run('file.read', { path: '.suzumio/output/3.0.txt' })).toMatchObject({ output: '1\tone\n2\ttwo' });
  });

  test('how it ended is told, with what it left', async () => {
    const handle = await start('sleep 600 >/dev/null 2>&1 & echo $! > pid; exit 4', '1.0');
    await eventually('its end', async () => (await read(handle)).startsWith('[exit code 4'));
    expect(await read(handle)).toMatch(/; 1 of its processes still run; nothing new\]$/);
    await box.run('shell.stop', { handle });
    expect(await runs(await pidIn('pid'))).toBe(false);
  });

  test('not more than the sandbox allows', async () => {
    await start('sleep 600', '1.0');
    const second = await start('sleep 600', '2.0');
    const { code, message } = await box.refused('shell.exec', { command: 'true', background: true });
    expect(code).toBe('too-many-processes');
    expect(message).toContain('bg-1.0, bg-2.0');
    await box.run('shell.stop', { handle: second });
    await start('sleep 600', '3.0');
  });

  test('another command leaves it alone; the end of the turn ends all', async () => {
    await start('echo $$ > pid; exec sleep 600', '1.0');
    const pid = await pidIn('pid');
    await exec('sleep 600 & true');
    expect(await runs(pid)).toBe(true);
    await box.sandbox.processes.close();
    expect(await runs(pid)).toBe(false);
    expect(await box.refused('shell.read', { handle: 'bg-1.0' })).toMatchObject({ code: 'handle-unknown' });
  });
});
