import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type BegunCommand, type CliWorld, createCliWorld, notesProject } from './support/cli.js';

const answers: string[] = [];
let world: CliWorld;
let server: BegunCommand;
const original = notesProject('notes');

beforeEach(async () => {
  answers.length = 0;
  world = await createCliWorld();
  await world.run('init', await world.write('notes.yaml', original));
  server = await world.serve('--no-scheduler');
});
afterEach(() => world.remove());

describe('the file of a project', () => {
  test('is compared, applied after it was shown, and reverted', async () => {
    const file = await world.write(
      'next.yaml',
      `# Better.\n${original.replace('prompt: Write.', 'prompt: Write well.')}`,
    );
    const shown = await world.run('config', 'diff', 'notes', file);
    expect(shown).toMatchObject({
      code: 0,
      out: expect.stringContaining('agents.writer.prompt  next turn\n  - Write.\n  + Write well.\n\n1 change.\n'),
    });
    const unasked = await world.run('config', 'apply', 'notes', file);
    expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining('nothing was changed') });
    expect((await world.run('config', 'apply', 'notes', file, '--yes')).out).toContain(
      'Version 2 of the file of notes is in force.',
    );
    expect((await world.run('config', 'show', 'notes')).out).toMatch(/^# Better\./);
    expect((await world.run('config', 'show', 'notes', '1')).out).not.toMatch(/Better/);
    expect((await world.run('config', 'apply', 'notes', file, '--yes')).out).toContain('Version 2 stays in force.');
    expect((await world.run('config', 'revert', 'notes', '1', '--yes')).out).toContain(
      'Version 3 of the file of notes is in force.',
    );
    const { out } = await world.run('config', 'versions', 'notes');
    expect(
      out
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.replace(/\d\d.*\d\d:\d\d(:\d\d)?/, 'TIME')),
    ).toEqual([
      expect.stringMatching(/^1 +TIME +user +-$/),
      expect.stringMatching(/^2 +TIME +\w+ +1 +agents\.writer\.prompt$/),
      expect.stringMatching(/^3 +TIME +\w+ +1 +back to 1: agents\.writer\.prompt$/),
    ]);
    expect((await world.run('config', 'diff', 'notes', '--to', '2')).out).toContain('+ Write well.');
    expect((await world.run('audit')).out).toMatch(/config\.changed/);
  });

  test('over a newer version is refused, as is what cannot change', async () => {
    const one = await world.write('one.yaml', original.replace('prompt: Write.', 'prompt: Write well.'));
    const two = await world.write('two.yaml', original.replace('prompt: Read.', 'prompt: Read all.'));
    await world.run('config', 'apply', 'notes', one, '--yes');
    expect(await world.run('config', 'apply', 'notes', two, '--base', '1', '--yes')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/was read at version 1, and is at version 2 by now/),
    });
    const other = await world.write('other.yaml', original.replace('name: notes', 'name: other'));
    expect(await world.run('config', 'apply', 'notes', other, '--yes')).toMatchObject({
      code: 3,
      err: expect.stringContaining('a project keeps its name, notes'),
    });
  });

  test('is read without a server', async () => {
    await server.stop();
    expect((await world.run('config', 'versions', 'notes')).out).toMatch(/\n1 +.* user/);
    expect((await world.run('config', 'show', 'notes')).out).toBe(original.endsWith('\n') ? original : `${original}\n`);
    expect((await world.run('config', 'diff', 'notes')).out).toContain('The first version changed nothing.');
  });

  test('that asks for more of this machine is refused at its line, or leads to the command that allows it', async () => {
    const fixer = 'fixer: { role: fixer, prompt: Mend., workspace: { git: tides } }';
    const more = original.replace('prompt: Read. }', `prompt: Read. }\n  ${fixer}`);
    const never = await world.write('more.yaml', more);
    expect(await world.run('config', 'diff', 'notes', never)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/more\.yaml:26:\d+ {2}agents\.fixer\.workspace\.git: .* lies in what is never cloned/),
    });
    // Not below /dev, where the temporary files of tests may be.
    const elsewhere = mkdtempSync(join(realpathSync('/tmp'), 'suzumio-own-'));
    try {
      const own = join(elsewhere, 'more.yaml');
      writeFileSync(own, more);
      const { code, err } = await world.run('config', 'diff', 'notes', own);
      expect([code, err]).toEqual([
        3,
        `${own}  agents.fixer.workspace.git: workspaces may not be clones of ${join(elsewhere, 'tides')} (policy: git)\n` +
          `next: suzumio config apply notes ${own}   (it allows what a file of your own may use, shows what changes, and asks)\n`,
      ]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });

  test('has an agent less, which is told as retired', async () => {
    const lines = original.split('\n').filter((line) => !/^ {2}reader:/.test(line));
    const file = await world.write('less.yaml', lines.join('\n'));
    const applied = await world.run('config', 'apply', 'notes', file, '--yes');
    expect(applied.out).toContain('agents.reader  at once');
    expect((await world.run('agents', 'notes')).out).toMatch(/reader .*retired/);
    expect(await world.run('send', 'notes', 'reader', 'P1', 'Hello.')).toMatchObject({
      code: 3,
      err: expect.stringContaining('reader was retired, and reads no mail any more'),
    });
    expect((await world.run('why', 'notes', 'reader')).out).toMatch(/^reader was retired/);
  });
});
