import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import type { TurnWorkerSettings } from '../src/index.js';
import { type deriveImage, docker, runnerImage } from './support/images.js';
import { testPolicy, worlds } from './support/world.js';

const open = worlds();
const mib = 1024 ** 2;
const isRoot = process.getuid?.() === 0;

const python = (program: string) => `python3 - <<'END'\n${program}\nEND`;
const node = (program: string) => `node --input-type=module - <<'END'\n${program}\nEND`;

/** What people run in turns, none of which may fail. */
const commands: Readonly<Record<string, string>> = {
  'a program and a script in /tmp': `
    set -e
    cp /bin/true /tmp/program && /tmp/program
    printf '#!/bin/sh\\necho ran' > /tmp/script && chmod +x /tmp/script && test "$(/tmp/script)" = ran`,
  'a program where mktemp makes a directory, and in memory of the project': `
    made="$(mktemp -d)" && test "$made" != "\${made#$TMPDIR/}"
    for at in "$made" /scratch /dev/shm; do cp /bin/true "$at/program" && "$at/program" || exit 1; done`,
  'a native library from /tmp': python(`
import ctypes, re, shutil
ctypes.CDLL('libm.so.6')
library = re.search(r'/\\S*libm[.-]\\S*', open('/proc/self/maps').read()).group()
assert ctypes.CDLL(shutil.copy(library, '/tmp/own.so')).abs is not None`),
  'multiprocessing: shared memory, semaphores, a pool, managers': python(`
import multiprocessing, socket
from multiprocessing import shared_memory
from multiprocessing.managers import BaseManager
shared = shared_memory.SharedMemory(create=True, size=150_000_000)
shared.buf[:] = bytes(150_000_000)
shared.close(); shared.unlink()
with multiprocessing.Semaphore(), multiprocessing.Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
for address in [None, (socket.gethostname(), 0)]:
    manager = BaseManager(address); manager.start(); manager.shutdown()`),
  'who I am: whoami, id, getpass, pwd, os.userInfo, ~': `
    set -e
    test "$(whoami)" = "$USER" -a "$(id -un)" = "$LOGNAME" && id -gn
    test "$(bash -c "echo ~$USER")" = "$HOME" && touch "$HOME/mine"
    ${node(`import os from 'node:os'; import assert from 'node:assert';
    const { username, homedir } = os.userInfo();
    assert.deepEqual([username, homedir, os.homedir()], [process.env.USER, process.env.HOME, process.env.HOME]);`)}
    ${python(`import getpass, os, pathlib, pwd, grp
me = pwd.getpwuid(os.getuid())
assert [getpass.getuser(), me.pw_name, me.pw_dir] == [os.environ['USER'], os.environ['USER'], os.environ['HOME']]
assert str(pathlib.Path.home()) == os.environ['HOME'] and grp.getgrgid(os.getgid()).gr_name
assert pwd.getpwnam('root').pw_uid == 0`)}`,
  'my own host name, and localhost': `
    set -e
    ${python(`import socket
assert socket.gethostbyname(socket.gethostname()) == socket.gethostbyname('localhost') == '127.0.0.1'`)}
    ${node(`import dns from 'node:dns/promises'; import os from 'node:os'; import assert from 'node:assert';
    assert.equal((await dns.lookup(os.hostname())).address, '127.0.0.1');`)}`,
  'text in UTF-8': python(`
import locale, sys
assert sys.stdout.encoding == 'utf-8' and locale.setlocale(locale.LC_ALL, '') == 'C.UTF-8'`),
  'git, where nobody has said who commits': `
    git init -q repository && cd repository && echo x > file && git add file && git commit -qm 'A file' && git log --format=%ae | grep @`,
  make: `printf 'all:\\n\\t@cp /bin/true "$(TMPDIR)/made" && "$(TMPDIR)/made"\\n' > Makefile && make`,
  'pip, offline': python(`
import subprocess, sys, zipfile
meta = 'tiny-1.0.dist-info/'
with zipfile.ZipFile('/tmp/tiny-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('tiny.py', 'answer = 42')
    wheel.writestr(meta + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
    wheel.writestr(meta + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(meta + 'RECORD', '')
subprocess.run([sys.executable, '-m', 'pip', 'install', '--no-index', '/tmp/tiny-1.0-py3-none-any.whl'], check=True)
subprocess.run([sys.executable, '-c', 'import tiny; assert tiny.answer == 42'], check=True)`),
  'npm, offline, with a script of the package': `
    mkdir -p package app && cd package
    echo '{"name":"tiny","version":"1.0.0","bin":"tiny.js","scripts":{"preinstall":"node -e 0"}}' > package.json
    printf '#!/usr/bin/env node\\nconsole.log(42)' > tiny.js && cd ../app && echo '{}' > package.json
    npm install --offline --no-audit --no-fund ../package && test "$(npx --offline tiny)" = 42`,
};

/** More than there is to share is mapped and written. */
const overfull = python(`
import mmap
with open('/dev/shm/file', 'wb+') as file:
    file.truncate(400_000_000)
    mapped = mmap.mmap(file.fileno(), 0)
    for at in range(0, 400_000_000, 4096): mapped[at] = 1`);

/** Runs commands as a turn's tools do, and gives what each is answered. */
async function run(
  sandbox: Partial<ClaimAnswer['sandbox']> & { image?: string },
  all: Readonly<Record<string, string>>,
  settings: Partial<TurnWorkerSettings> = {},
): Promise<Record<string, string>> {
  const world = await open({ settings: { ...settings, policy: { ...testPolicy, users: ['*:*'] } } });
  const claim = world.claimOf({
    sandbox: { memoryBytes: 512 * mib, pids: 200, tmpfs: { '/tmp': 64 * mib, '/scratch': 8 * mib }, ...sandbox },
    steps: [
      ...Object.values(all).map((command) => ({ tool: 'shell.exec', input: { command, timeoutMs: 120_000 } })),
      { text: 'done' },
    ],
  });
  claim.input.tools = [{ name: 'shell.exec', description: 'Runs a command.', inputSchema: {} }];
  world.toolhost.add(claim);
  await world.deliver(world.toolhost.turn(claim.input.turn.id));
  const { failed } = await world.toolhost.ended(claim.input.turn.id);
  expect(failed).toBeUndefined();
  const answers = world.toolhost.stepResults.map((result) => JSON.stringify(result));
  return Object.fromEntries(Object.keys(all).map((name, index) => [name, answers[index] ?? '']));
}

describe.each([
  ['a user that the image does not know', { user: '39401:39400' }, {}, isRoot],
  ['a user of a range, of which each project has one', {}, { turnUser: '390000000-399999999:39400' }, isRoot],
  ["the worker's own user, or 1000 for root, which the image knows", {}, {}, true],
])('a container of %s', (_who, sandbox, settings, isPossible) => {
  // Only root can give files to another user.
  (isPossible ? test : test.skip)('is a machine on which people’s programs run', async () => {
    const size = 'df --output=size -BM /dev/shm | tail -1';
    const answers = await run(sandbox, { ...commands, size, overfull }, settings);
    const broken = Object.keys(commands).filter((name) => !/\[exit code 0, /.test(answers[name] ?? ''));
    expect(Object.fromEntries(broken.map((name) => [name, answers[name]]))).toEqual({});
    expect(answers['size']).toContain(' 256M');
    expect(answers['overfull']).toMatch(/\[exit code 135: SIGBUS, [^\]]*\/dev\/shm/);
  });
});

test('an image whose list of users is a link, and which has no groups, has the user, too', async () => {
  const image = await changedImage('mv /etc/passwd /etc/users && ln -s users /etc/passwd && rm /etc/group');
  try {
    const { who = '' } = await run(
      { image: image.name, user: '39401:39400' },
      { who: 'whoami; id -gn; cat /etc/passwd' },
    );
    expect(who).toContain('agent\\nagent\\nroot:x:0:0:');
  } finally {
    await image.remove();
  }
});

/** The runner's image after a command of root's in it. */
async function changedImage(command: string): ReturnType<typeof deriveImage> {
  const container = await docker.createContainer({
    Image: runnerImage,
    User: '0:0',
    Entrypoint: ['sh', '-ec', command],
    NetworkDisabled: true,
  });
  const repo = `suzumio-test-${randomBytes(6).toString('hex')}`;
  try {
    await container.start();
    expect(await container.wait()).toMatchObject({ StatusCode: 0 });
    const changes = 'USER 1000:1000\nENTRYPOINT ["node", "/opt/suzumio/runner.mjs"]';
    await container.commit({ repo, tag: 'dev', changes });
  } finally {
    await container.remove({ force: true });
  }
  const name = `${repo}:dev`;
  return { name, remove: async () => void (await docker.getImage(name).remove({ force: true })) };
}
