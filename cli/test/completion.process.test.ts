import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { complete, type Names } from '@suzumio/cli/completion/candidates';
import { type CliWorld, createCliWorld, notesProject } from './support/cli.js';
import { wholeProgram } from './support/program.js';

const names: Names = {
  projects: () => Promise.resolve(['newsroom', 'weekly']),
  agents: (project) => Promise.resolve(project === 'newsroom' ? ['editor', 'checker'] : []),
  turns: () => Promise.resolve(['editor:1', 'checker:1']),
  roles: () => Promise.resolve(['editor', 'fact checker']),
  teams: () => Promise.resolve(['desk']),
  profiles: () => Promise.resolve(['Akari', 'Ren']),
  messages: () => Promise.resolve([{ word: '12', meaning: 'editor: The north gauge, please.' }]),
};
const words = async (...typed: string[]) => {
  const found = await complete(wholeProgram(), typed, names);
  return found === 'files' ? found : found.map(({ word }) => word);
};

describe('what may stand where the cursor is', () => {
  test.each<[string[], string[] | 'files']>([
    [['req'], ['request-changes']],
    [['turns', 's'], ['show']],
    [
      ['agents', 're'],
      ['retry', 'reset'],
    ],
    [
      ['agents', ''],
      ['retry', 'reset', 'stop', 'start', 'newsroom', 'weekly'],
    ],
    [['status', 'new'], ['newsroom']],
    [
      ['send', 'newsroom', ''],
      ['editor', 'checker'],
    ],
    [
      ['send', 'newsroom', 'editor', ''],
      ['P0', 'P1', 'P2', 'P3'],
    ],
    [['send', 'newsroom', 'editor', 'P1', 'He'], []],
    [['agents', 'stop', 'newsroom', 'c'], ['checker']],
    [['agents', 'stop', 'weekly', ''], []],
    [['turns', 'show', 'newsroom', 'editor:'], ['editor:1']],
    [['messages', 'show', 'newsroom', ''], ['12']],
    [['assign', 'newsroom', 'f'], ['fact checker']],
    [['assign', 'newsroom', 'editor', '--team', ''], ['desk']],
    [
      ['tasks', 'newsroom', '--state', 'd'],
      ['done', 'declined'],
    ],
    [
      ['messages', 'newsroom', '--from', ''],
      ['editor', 'checker', 'user'],
    ],
    [
      ['messages', 'newsroom', '--state', 'un'],
      ['unread', 'undelivered'],
    ],
    [['turns', 'newsroom', '--status', 'f'], ['failed']],
    // A name of the published Suzumio: it is not offered, and what follows it is.
    [['activ'], []],
    [['activations', 'newsroom', '--status', 'f'], ['failed']],
    [['serve', '--no-p'], []],
    [
      ['events', 'newsroom', '--type', 'turn.c'],
      ['turn.completed', 'turn.cancelled'],
    ],
    [['status', '--state', 'sub'], ['submitted']],
    [['teams', 'up', 'desk', '--from', ''], 'files'],
    [['usage', '--from', ''], []],
    [['thread', 'newsroom', '1'], ['12']],
    [['redeliver', 'newsroom', '12', '--agent', 'c'], ['checker']],
    [
      ['logs', 'newsroom', 'e'],
      ['editor', 'editor:1'],
    ],
    [['profiles', 'show', 'A'], ['Akari']],
    [['profiles', 'create', 'Mio', '--persona', ''], 'files'],
    [['teams', 'show', ''], ['desk']],
    [['stop', 'newsroom', '--n'], ['--now']],
    [
      ['stop', '--now', ''],
      ['newsroom', 'weekly'],
    ],
    [['stop', '--js'], ['--json']],
    [['messages', 'newsroom', '--since'], ['--since']],
    [['messages', 'show', 'newsroom', '--since'], []],
    [['--root', '/data', 'status', 'w'], ['weekly']],
    [['--root', '/da'], 'files'],
    [['init', ''], 'files'],
    [['up', 'n', '--config-root', 'x'], 'files'],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['nonsense', ''], []],
  ])('%j', async (typed, expected) => {
    expect(await words(...typed)).toEqual(expected);
  });

  test('begins with every command that is shown', async () => {
    const all = await words('');
    expect(all).toEqual(expect.arrayContaining(['up', 'status', 'tokens', 'delete', 'verify']));
    expect(all).not.toEqual(expect.arrayContaining(['demo']));
    expect(all).not.toEqual(expect.arrayContaining(['__complete']));
  });
});

describe('in a real shell', () => {
  const command = fileURLToPath(new URL('../bin/suzumio.js', import.meta.url));
  let world: CliWorld;
  beforeEach(async () => {
    world = await createCliWorld();
    await world.run('init', await world.write('notes.yaml', notesProject('notes')));
    await mkdir(join(world.directory, 'bin'));
    const suzumio = join(world.directory, 'bin', 'suzumio');
    await writeFile(suzumio, `#!/bin/sh\nexec '${process.execPath}' '${command}' "$@"\n`);
    await chmod(suzumio, 0o755);
  });
  afterEach(() => world.remove());

  /** Runs a shell in which `suzumio` is the built command. */
  async function shell(program: string, ...args: string[]): Promise<string[]> {
    const env = {
      PATH: `${join(world.directory, 'bin')}:${process.env['PATH'] ?? ''}`,
      SUZUMIO_ROOT: world.root,
      HOME: world.directory,
    };
    const { stdout } = await promisify(execFile)(program, args, { env, cwd: world.directory });
    return stdout.split('\n').filter((line) => line !== '');
  }

  const inBash = (line: string) => {
    const script = `source <(suzumio completion bash)
      line=$1; COMP_LINE=$line; COMP_POINT=\${#line}
      # As readline does: a colon is a word of its own.
      COMP_WORDS=(); for word in $line; do
        while [[ $word == *:* ]]; do COMP_WORDS+=("\${word%%:*}" :); word=\${word#*:}; done
        [[ -n $word ]] && COMP_WORDS+=("$word")
      done
      [[ $line == *' ' ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _suzumio; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return shell('bash', '-c', script, 'bash', line);
  };

  test('bash completes commands, projects, agents and files', async () => {
    expect(await inBash('suzumio tool')).toEqual(['tool-calls']);
    expect(await inBash('suzumio status ')).toEqual(['notes']);
    expect(await inBash('suzumio agents stop notes r')).toEqual(['reader']);
    expect(await inBash('suzumio init no')).toEqual(['notes.yaml']);
    expect(await inBash('suzumio stop notes --n')).toEqual(['--now']);
  });

  test('bash completes turns, which it takes apart at their colon', async () => {
    await world.run('init', await world.write('x.yaml', notesProject('x')));
    expect(await inBash('suzumio turns show notes writer:')).toEqual([]);
  });

  const skipped = (process.env['SUZUMIO_TEST_SKIP'] ?? '').split(',').includes('shells');
  const inOtherShells = skipped ? test.skip : test;

  inOtherShells('fish completes them, too', async () => {
    const ask = (line: string) => shell('fish', '-c', `suzumio completion fish | source; complete -C '${line}'`);
    expect(await ask('suzumio tool')).toEqual([expect.stringMatching(/^tool-calls\t/)]);
    expect(await ask('suzumio agents stop notes r')).toEqual(['reader']);
    expect(await ask('suzumio init no')).toEqual([expect.stringMatching(/^notes\.yaml/)]);
  });

  inOtherShells('zsh completes them, too', async () => {
    const script = `autoload -Uz compinit; compinit -u -D; source <(suzumio completion zsh)
      # What is offered, without a terminal to show it on.
      _describe() { print -l -- "\${(@)found//\\\\\\\\:/:}" }
      _files() { print files }
      words=(suzumio \${(z)1}); [[ $1 == *' ' ]] && words+=(''); CURRENT=$#words; _suzumio`;
    const ask = (line: string) => shell('zsh', '-c', script, 'zsh', line);
    expect(await ask('tool')).toEqual([expect.stringMatching(/^tool-calls:/)]);
    expect(await ask('agents stop notes r')).toEqual(['reader']);
    expect(await ask('init no')).toEqual(['files']);
  });
});
