import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectEvent } from '@suzumio/contract/model/event';
import { policySchema } from '@suzumio/core/policy/policy';
import { type TestApi, testApi } from '../../services/api/test/support/api.js';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld, notesProject, printed } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

describe('up', () => {
  test('makes a project, starts it and follows it; the other commands find it; Ctrl-C stops it', async () => {
    const file = await world.write('notes.yaml', notesProject('notes'));
    const up = world.begin('up', file, '--port', '0');
    await printed(up, 'started');
    expect(up.out).toMatch(/^Suzumio listens on http:\/\/127\.0\.0\.1:\d+ /);
    expect(up.out).toContain('without any isolation: its file asks for it');

    const sent = await world.run('send', 'notes', 'writer', 'p2', 'A', 'note,', 'please.');
    expect(sent).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Sent to writer as msg_\w+, unread by writer\.\nnext: suzumio watch notes\n$/),
    });
    await printed(up, 'turn 1 done');
    const lines = up.out.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, '').trimEnd());
    expect(lines).toEqual(
      expect.arrayContaining([
        'user -> writer    P2  "A note, please."',
        expect.stringMatching(/^writer {12}turn 1 started {3}\(process, [\d.]+ m?s after the message\)$/),
        expect.stringMatching(/^writer {12}published note\.md {3}7 B {2}sha256 [0-9a-f]{4}…$/),
        'writer            submitted the report (version 1)',
      ]),
    );

    expect((await world.run('status', 'notes')).out).toContain('notes   submitted, waits for you');
    expect(await world.run('report', 'notes')).toMatchObject({ code: 0, out: '# Note 1\n' });
    expect((await world.run('turns', 'show', 'notes', 'writer:1')).out).toContain('artifacts.publish');
    expect(await world.run('start', 'notes')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^The project is submitted, so "start" is refused: .*\nnext: suzumio status notes\n$/),
    });
    const changes = await world.run('request-changes', 'notes', 'writer', 'Another', 'one.');
    expect(changes.out).toMatch(/^Sent to writer as msg_\w+; notes is running again\.\n/);
    await printed(up, 'turn 2 done');
    expect(await world.run('approve', 'notes')).toMatchObject({
      code: 0,
      out: 'notes is completed: version 2 of the report is approved.\nnext: suzumio report notes\n',
    });
    const watched = await world.run('watch', 'notes', '--json', '--limit', '3');
    expect(
      watched.out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { type: string }).type)
        .at(-1),
    ).toBe('project.completed');

    expect(await world.run('serve', '--port', '0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is being served already'),
    });
    expect(await world.run('send', 'notes', 'wirter', 'P1', 'x')).toMatchObject({
      code: 3,
      err: expect.stringContaining('"wirter"'),
    });
    expect(await world.run('start', 'noets')).toMatchObject({
      code: 3,
      err: expect.stringContaining('did you mean notes?'),
    });

    expect(await up.stop()).toMatchObject({ code: 0, err: '' });
    expect(existsSync(join(world.root, 'server.json'))).toBe(false);
    expect((await world.run('status', 'notes')).out).toContain('completed');
  });

  test('ends turns that run at a second Ctrl-C, and the next start goes on with them', async () => {
    const hanging = notesProject('notes').replace('- fail: { exit: 3 }', '- hang: true');
    const up = world.begin('up', await world.write('notes.yaml', hanging), '--port', '0');
    await printed(up, 'started');
    await world.run('send', 'notes', 'writer', 'P2', 'Please fail: hang.');
    await printed(up, 'turn 1 started');
    up.interrupt();
    await printed(up, 'Ctrl-C again ends them now');
    up.insist();
    expect(await up.ended).toMatchObject({ code: 0, err: '' });
    expect(up.out).toContain('Ending them now. They go on after the next start.');
    expect((await world.run('turns', 'show', 'notes', 'writer:1')).out).toContain('worker-shutdown');
  });

  test('goes on with a project that is there, through a server that runs', async () => {
    const file = await world.write('notes.yaml', notesProject('notes'));
    await world.run('init', file);
    const server = await world.serve('--allow-process');
    const other = notesProject('notes').replace('prompt: Write.', 'prompt: Sing., team: x, env: { DB_PASSWORD: new }');
    const up = world.begin('up', await world.write('other.yaml', other));
    await printed(up, 'started');
    expect(up.out).toMatch(/^Using the server that runs at .*\nnotes has another version of this file/);
    expect(up.out).toContain('What differs: agents.writer.prompt, agents.writer.env, agents.writer.team.');

    await world.run('send', 'notes', 'writer', 'P1', 'Please fail.');
    await printed(up, 'mail kept');
    expect(up.out).toContain('next: suzumio agents retry notes writer');
    expect((await world.run('status', 'notes')).out).toContain('writer  failed   non-zero-exit in turn 1, attempt 1');
    expect(await world.run('agents', 'retry', 'notes', 'writer')).toMatchObject({
      code: 0,
      out: expect.stringContaining('Turn 1 of writer is queued again.'),
    });
    await printed(up, 'queued again');
    const stopped = await world.run('stop', 'notes', '--now');
    expect(stopped).toMatchObject({
      code: 0,
      out: 'notes is stopped. Mail is kept.\nnext: suzumio start notes\n      suzumio inbox notes --undelivered\n',
    });
    expect((await world.run('send', 'notes', 'reader', 'P1', 'hello')).out).toContain(
      'notes is stopped: mail waits until it runs.',
    );

    up.interrupt();
    server.interrupt();
    expect([(await up.ended).code, (await server.ended).code]).toEqual([0, 0]);
    const log = readFileSync(join(world.root, 'logs', 'serve.log'), 'utf8')
      .trim()
      .split('\n');
    expect(log.every((line) => 'level' in (JSON.parse(line) as object))).toBe(true);
  });

  test('tells of a value of env that has changed, without the value', async () => {
    const withPassword = notesProject('notes').replace('prompt: Read.', 'prompt: Read., env: { DB_PASSWORD: "${DB}" }');
    const file = await world.write('notes.yaml', withPassword);
    const upWith = async (password: string) => {
      world.setEnvironment({ DB: password });
      const up = world.begin('up', file, '--port', '0');
      await printed(up, 'started');
      up.interrupt();
      const { code, out, err } = await up.ended;
      expect([code, err, out.includes('hunter')]).toEqual([0, '', false]);
      return out;
    };
    await upWith('hunter2');
    expect(await upWith('hunter2')).not.toContain('another version');
    const out = await upWith('hunter3');
    expect(out).toContain('What differs: agents.reader.env.DB_PASSWORD.');
    expect(out).toContain('To apply it: ');
  });

  describe('where the file of a project that is there has changed', () => {
    const changed = notesProject('notes').replace('prompt: Write.', 'prompt: Sing.');
    const upIn = async (there: CliWorld, file: string, ...options: string[]) => {
      const up = there.begin('up', file, '--port', '0', ...options);
      await printed(up, 'started');
      return up.stop();
    };
    const versions = async (there: CliWorld) => {
      const { out } = await there.run('config', 'versions', 'notes', '--json');
      return (JSON.parse(out) as { changed: string[] }[]).map(({ changed: fields }) => fields);
    };

    test('shows what differs, asks, applies it and goes on', async () => {
      const answers = ['n', 'y', 'left over'];
      const there = await createCliWorld({ answers });
      try {
        await there.run('init', await there.write('notes.yaml', notesProject('notes')));
        const file = await there.write('notes.yaml', changed);
        const declined = await upIn(there, file);
        expect(declined.out).toContain('agents.writer.prompt  next turn\n  - Write.\n  + Sing.\n\n1 change.\n');
        expect(declined.out).toContain('stays as it is until this one is applied.');
        expect(declined).toMatchObject({ code: 0, err: '' });
        const agreed = await upIn(there, file);
        expect(agreed.out).toContain('1 change.\nVersion 2 of the file of notes is in force.\n');
        expect(await upIn(there, file)).toMatchObject({ out: expect.not.stringContaining('in force') });
        expect(answers).toEqual(['left over']);
        expect(await versions(there)).toEqual([[], ['agents.writer.prompt']]);
      } finally {
        await there.remove();
      }
    });

    test('applies it without a question where the command says so, and refuses what cannot change', async () => {
      await world.run('init', await world.write('notes.yaml', notesProject('notes')));
      const file = await world.write('notes.yaml', changed);
      expect((await upIn(world, file)).out).toContain('To apply it: suzumio config apply notes');
      expect(await versions(world)).toEqual([[]]);
      expect((await upIn(world, file, '--apply')).out).toContain('Version 2 of the file of notes is in force.\n');
      const other = await world.write(
        'notes.yaml',
        changed.replace('prompt: Sing.', 'prompt: Sing., backend: external'),
      );
      const refused = await world.run('up', other, '--port', '0', '--apply');
      expect(refused).toMatchObject({ code: 3, err: expect.stringContaining('retire it') });
      expect(await world.run('up', '--apply')).toMatchObject({
        code: 2,
        err: expect.stringContaining('--apply is about a project file'),
      });
    });
  });

  describe('with a server elsewhere', () => {
    let there: TestApi;
    let file: string;
    beforeEach(async () => {
      there = await testApi({ policy: policySchema.parse({ backends: ['docker', 'process'] }) });
      world.setEnvironment({ SUZUMIO_URL: there.url, SUZUMIO_TOKEN: there.adminToken });
      file = await world.write('notes.yaml', notesProject('notes'));
    });
    afterEach(() => there.close());

    test('makes the project there, starts and follows it, and leaves nothing here', async () => {
      const up = world.begin('up', file);
      await printed(up, 'started');
      expect(up.out).toContain(`Using the server that runs at ${there.url}.\nnext: suzumio send notes writer P1`);
      expect((await there.get('/api/projects/notes')).json).toMatchObject({ project: { status: 'running' } });
      expect(await up.stop()).toMatchObject({ code: 0, err: '' });
      expect(existsSync(world.root)).toBe(false);

      const followers = async () => (await there.metrics.sseClients.get()).values[0]?.value ?? 0;
      await eventually('nobody follows it', async () => (await followers()) === 0);
      const watch = world.begin('watch', 'notes', '--limit', '0');
      await eventually('it is followed', async () => (await followers()) === 1);
      await there.post('/api/projects/notes/messages', { recipient: 'reader', body: 'Only now.' });
      await printed(watch, 'Only now.');
      expect(watch.out.trim().split('\n')).toEqual([expect.stringContaining('user -> reader')]);
      await watch.stop();

      const again = world.begin('up', file);
      await printed(again, 'started');
      expect(again.out).not.toContain('another version');
      await again.stop();
      const other = world.begin('up', await world.write('o.yaml', notesProject('notes').replace('A note', 'Changed')));
      await printed(other, 'started');
      expect(other.out).toContain('notes has another version of this file');
      await other.stop();
      const given = notesProject('notes').replace('prompt: Read.', 'prompt: Read., env: { MODE: fast }');
      const unseen = world.begin('up', await world.write('given.yaml', given.replace('name: notes', 'name: given')));
      await printed(unseen, 'started');
      expect(unseen.out).not.toContain('values of env');
      await unseen.stop();
      const more = world.begin('up', await world.write('given.yaml', given.replace('name: notes', 'name: given')));
      await printed(more, 'started');
      expect(more.out).not.toContain('another version');
      await more.stop();
    });

    test('that does not answer, makes nothing anywhere', async () => {
      world.setEnvironment({ SUZUMIO_URL: 'http://127.0.0.1:1', SUZUMIO_TOKEN: 'none' });
      expect(await world.run('up', file)).toMatchObject({ code: 4, out: '' });
      expect(existsSync(world.root)).toBe(false);
    });

    test('heeds its policy alone', async () => {
      const { code, err } = await world.run('up', file, '--allow-process');
      expect([code, err]).toEqual([3, expect.stringContaining('leave out --allow-process')]);
      expect(await world.run('up', '--json')).toMatchObject({ code: 0, out: `{"url":"${there.url}"}\n` });
    });
  });

  test('prints events, and nothing else, with --json', async () => {
    const up = world.begin('up', await world.write('notes.yaml', notesProject('notes')), '--port', '0', '--json');
    await printed(up, 'project.started');
    const lines = up.out.trimEnd().split('\n');
    expect(lines.map((line) => projectEvent.parse(JSON.parse(line)).type)).toContain('project.started');
    expect((await up.stop()).code).toBe(0);
  });

  test('starts nothing for a file that is wrong', async () => {
    const { code, err } = await world.run('up', await world.write('bad.yaml', 'name: bad\n'));
    expect(code).toBe(3);
    expect(err).toContain('bad.yaml:1:1');
    expect(existsSync(world.root)).toBe(false);
  });
});

test('serve shows Prometheus what it does, where it is asked to, and nowhere else', async () => {
  const serve = await world.serve('--metrics-port', '0');
  const url = /^metrics: (http:\/\/127\.0\.0\.1:\d+\/metrics)$/m.exec(serve.out)?.[1] ?? '';
  const metrics = await (await fetch(url)).text();
  expect(metrics).toMatch(/^suzumio_worker_ready\{service="suzumio"\} [01]$/m);
  expect(metrics).toMatch(/^process_resident_memory_bytes/m);
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
  expect(await serve.stop()).toMatchObject({ code: 0 });
  await expect(fetch(url)).rejects.toThrow();
});
