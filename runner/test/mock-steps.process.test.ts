import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { truncateSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { files } from './support/bundle.js';
import { createToolHost, type FakeToolHost, type ToolAnswer } from './support/tool-host.js';
import { closed, createTurnPlace, type Ended, ended, listen, script, turn, type TurnPlace } from './support/turn.js';

let place: TurnPlace;
let host: FakeToolHost;
let answer: (request: Record<string, unknown>) => ToolAnswer;

beforeEach(async () => {
  place = await createTurnPlace();
  answer = ({ tool }) => ({ output: { called: tool } });
  host = createToolHost((request) => answer(request));
  await listen(host.server, place.socket);
});
afterEach(async () => {
  await closed(host.server);
  await place.remove();
});

async function play(...steps: unknown[]): Promise<Ended> {
  await place.prepare(script(...steps));
  return ended(place.start(files.runner));
}

describe('a turn', () => {
  test('of which no rule is ends with a short text', async () => {
    await place.prepare({ runner: { mode: 'mock', script: [{ agent: 'editor', steps: [{ text: 'no' }] }] } });
    expect(await ended(place.start(files.runner))).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'Read 1 messages; the script has nothing to do for them.' });
    expect(host.received).toEqual([]);
  });

  test('ends with a call whose answer says so', async () => {
    answer = () => ({ output: { version: 1 }, endTurn: true });
    const steps = [{ text: 'Merged.' }, { tool: 'completion.submit', input: { report: 'r' } }, { text: 'never' }];
    expect(await play(...steps)).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'Merged.\nEnded with completion.submit.' });
  });

  test('may end without a step', async () => {
    expect(await play()).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: '' });
  });
});

describe('text', () => {
  const counted = { run: { command: 'echo 2' } };
  const unless = (is: string) => ({
    text: 'Got {{steps.0.output}}.',
    endUnless: { value: '{{steps.0.output}}', is: is },
  });

  test('is left out, and the turn goes on, where that was found which it needs', async () => {
    expect(await play(counted, unless('2'), { text: 'All.' })).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'All.' });
  });

  test('is the last where it was not found', async () => {
    expect(await play(counted, { text: 'Hm.' }, unless('3'), { fail: { exit: 3 } })).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'Hm.\nGot 2.' });
  });
});

describe('run', () => {
  test('works in the workspace, sees no input, and its output is there for later steps', async () => {
    const { code, stderr, stdout } = await play(
      { run: { command: 'pwd; cat; echo to the log >&2' } },
      { run: { command: 'printf "%s" "{{mail.0.body}}" > {{agent.id}}.txt' } },
      { text: 'in {{steps.0.output}}' },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('to the log');
    expect(await place.output()).toEqual({ text: `in ${place.workspace}` });
    expect(await readFile(join(place.workspace, 'reporter-1.txt'), 'utf8')).toBe(turn.mail?.[0]?.body);
  });

  test('that does not exit with 0 fails the turn with what it said', async () => {
    const { code, stderr } = await play({ run: { command: 'echo no such gauge >&2; exit 3' } });
    expect(code).toBe(1);
    expect(stderr).toContain('suzumio-runner: step 0 (run): the command exited with 3: no such gauge\n');
  });

  test('that is ended by a signal, or takes too long, fails the turn', async () => {
    expect((await play({ run: { command: 'kill -9 $$' } })).stderr).toContain('was ended by SIGKILL');
    const late = await play({ run: { command: 'sleep 30', timeoutMs: '100ms' } });
    expect(late).toMatchObject({ code: 1 });
    expect(late.stderr).toContain('longer than 100 ms');
  });

  test('commits under the name of its agent in a repository that names nobody, and as the repository says elsewhere', async () => {
    const commit = (settings: string) =>
      `git init --quiet repo; cd repo; ${settings}; git commit --quiet --allow-empty -m Work; git log -1 --format='%an <%ae>, %cn <%ce>'`;
    const agent = {
      id: 'reporter-1',
      base: 'reporter',
      role: 'reporter',
      prompt: 'Report.',
      displayName: 'Akari "\\ A',
    };
    const steps = script(
      { run: { command: commit('true') } },
      { run: { command: commit('git config user.name Yuki; git config user.email yuki@example.org') } },
      { text: '{{steps.0.output}}\n{{steps.1.output}}' },
    );
    await place.prepare({ ...steps, agent });
    expect(await ended(place.start(files.runner))).toMatchObject({ code: 0 });
    const [akari, yuki] = ['Akari "\\ A <reporter-1@newsroom.invalid>', 'Yuki <yuki@example.org>'];
    expect(await place.output()).toEqual({ text: `${akari}, ${akari}\n${yuki}, ${yuki}` });
  });

  test('keeps the first 64 KiB of a long output', async () => {
    expect(
      await play({ run: { command: 'yes 1234567 | head -c 200000' } }, { text: '{{steps.0.output}}' }),
    ).toMatchObject({ code: 0 });
    const { text } = (await place.output()) as { text: string };
    expect(text).toMatch(/^(1234567\n){8191}1234567\n\[cut: 200000 bytes in all]$/);
  });
});

describe('write', () => {
  test('makes a file and its directories', async () => {
    expect(
      await play({ write: { path: 'notes/{{agent.id}}.md', text: 'Level, says {{agent.displayName}}' } }),
    ).toMatchObject({ code: 0 });
    expect(await readFile(join(place.workspace, 'notes', 'reporter-1.md'), 'utf8')).toBe('Level, says Akari');
  });

  test('does not leave the workspace', async () => {
    await symlink(place.turnDir, join(place.workspace, 'away'));
    const { code, stderr } = await play({ write: { path: 'away/output.json', text: '{}' } });
    expect(code).toBe(1);
    expect(stderr).toContain('step 0 (write): "away/output.json": leads out of the workspace');
  });
});

describe('tool', () => {
  test('is called under the place of its step, with its templates filled', async () => {
    answer = ({ tool }) => ({ output: tool === 'artifacts.list' ? { artifacts: [{ id: 'art_1' }] } : 'sent' });
    const steps = [
      { tool: 'artifacts.list' },
      {
        tool: 'messages.send',
        input: {
          recipient: '{{mail.0.sender}}',
          body: 'Got {{steps.0.output.artifacts.0.id}}.',
          tags: ['{{turn.number}}'],
        },
      },
      { text: '{{steps.1.output}}' },
    ];
    expect(await play(...steps)).toMatchObject({ code: 0, stderr: '' });
    expect(host.calls()).toMatchObject([
      { tool: 'artifacts.list', step: '0.0', input: {} },
      { tool: 'messages.send', step: '1.0', input: { recipient: 'editor', body: 'Got art_1.', tags: ['1'] } },
    ]);
    expect(await place.output()).toEqual({ text: 'sent' });
  });

  test('that is to be refused goes on with the problem, and fails the turn otherwise', async () => {
    answer = () => ({ code: 'tool-not-allowed', detail: 'web.fetch is not on the list', status: 403 });
    const call = { tool: 'web.fetch', input: {}, expectError: 'tool-not-allowed' };
    expect(await play(call, { text: '{{steps.0.output.code}}' })).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'tool-not-allowed' });
    answer = () => ({ code: 'tool-unknown', detail: 'there is no web.fetch' });
    expect((await play(call)).stderr).toContain('web.fetch was refused: tool-unknown: there is no web.fetch');
    answer = () => ({ output: 'fetched' });
    expect((await play(call)).stderr).toContain('web.fetch was to be refused with tool-not-allowed, and was not');
  });

  test('that may be refused goes on either way, and with no other refusal', async () => {
    const call = { tool: 'web.fetch', input: {}, allowError: 'outcome-unknown' };
    answer = () => ({ output: 'fetched' });
    expect(await play(call, { text: '{{steps.0.output}}' })).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'fetched' });
    answer = () => ({ code: 'outcome-unknown', detail: 'nobody knows' });
    expect(await play(call, { text: '{{steps.0.output.code}}' })).toMatchObject({ code: 0 });
    expect(await place.output()).toEqual({ text: 'outcome-unknown' });
    answer = () => ({ code: 'tool-unknown', detail: 'there is no web.fetch' });
    expect((await play(call)).stderr).toContain('web.fetch was refused: tool-unknown: there is no web.fetch');
  });

  test('artifacts.publish uploads the file first', async () => {
    const bytes = Buffer.alloc(3_000_000, 'summary\n');
    await writeFile(join(place.workspace, 'summary.md'), bytes);
    expect(await play({ tool: 'artifacts.publish', input: { path: 'summary.md', name: 's.md' } })).toMatchObject({
      code: 0,
    });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(host.received.map(({ method, url, authorization }) => [method, url, authorization])).toEqual([
      ['PUT', `/content/${sha256}`, 'Bearer tool-token'],
      ['POST', '/tool', 'Bearer tool-token'],
    ]);
    expect(host.content.get(sha256)?.equals(bytes)).toBe(true);
    expect(host.calls()[0]).toMatchObject({
      input: { path: 'summary.md', name: 's.md', sha256, sizeBytes: 3_000_000 },
    });
  });

  test('artifacts.publish uploads an empty file, and again where the door broke', async () => {
    await writeFile(join(place.workspace, 'empty'), '');
    let broken = false;
    host.intercept = (incoming, response) => {
      if (broken || incoming.method !== 'PUT') return false;
      broken = true;
      response.destroy();
      return true;
    };
    expect(await play({ tool: 'artifacts.publish', input: { path: 'empty' } })).toMatchObject({ code: 0 });
    const sha256 = createHash('sha256').digest('hex');
    expect(host.content.get(sha256)?.length).toBe(0);
    expect(host.calls()[0]).toMatchObject({ input: { sizeBytes: 0, sha256 } });
  });

  test('that is longer than a ToolHost takes is refused before it is sent', async () => {
    const input = { recipient: 'editor', body: 'x'.repeat(2.2 * 1024 * 1024) };
    expect(await play({ tool: 'messages.send', input, expectError: 'body-too-large' })).toMatchObject({ code: 0 });
    expect(host.received).toEqual([]);
  });

  test('artifacts.publish of a file that is refused while it is sent goes on to be refused, and says why', async () => {
    await writeFile(join(place.workspace, 'large'), Buffer.alloc(30_000_000));
    answer = () => ({ code: 'content-missing', detail: 'No content.' });
    host.intercept = (incoming, response) => {
      if (incoming.method !== 'PUT') return false;
      response.writeHead(413, { 'content-type': 'application/problem+json', connection: 'close' });
      response.end(
        JSON.stringify({ type: 't', title: 't', status: 413, code: 'body-too-large', detail: 'Too large.' }),
      );
      return true;
    };
    const { code, stderr } = await play({ tool: 'artifacts.publish', input: { path: 'large' } });
    expect(stderr).toContain('content-missing: No content. ("large": Too large.)');
    expect(code).toBe(1);
  });

  test('artifacts.publish of a file that becomes shorter while it is sent goes on to be refused, and says why', async () => {
    const path = join(place.workspace, 'shrinking');
    await writeFile(path, 'level 3.2 m\n');
    answer = () => ({ code: 'content-missing', detail: 'No content.' });
    host.server.on('checkContinue', (incoming, response) => {
      truncateSync(path, 3);
      response.writeContinue();
      host.server.emit('request', incoming, response);
    });
    const { code, stderr } = await play({ tool: 'artifacts.publish', input: { path: 'shrinking' } });
    expect(stderr).toContain('content-missing: No content. ("shrinking": the file became shorter while it was sent)');
    expect(code).toBe(1);
  });

  test.each([
    ['../turn/input.json', 'is not a path inside the workspace'],
    ['link', 'is a link'],
    ['missing', 'ENOENT'],
  ])('artifacts.publish of %s is left to be refused and recorded, and says why', async (path, reason) => {
    await symlink(join(place.turnDir, 'input.json'), join(place.workspace, 'link'));
    answer = () => ({ code: 'content-missing', detail: 'No content came with the call.' });
    const { code, stderr } = await play({ tool: 'artifacts.publish', input: { path } });
    expect(code).toBe(1);
    expect(stderr).toContain(`content-missing: No content came with the call. ("${path}": ${reason}`);
    expect(host.received.map(({ method }) => method)).toEqual(['POST']);
    expect(host.calls()[0]?.['input']).toEqual({ path });
  });
});

describe('an end that a script asks for', () => {
  test('fail exits with its code', async () => {
    expect(await play({ fail: { exit: 3 } })).toMatchObject({
      code: 3,
      stderr: 'suzumio-runner: step 0 (fail): the script asks for exit code 3\n',
    });
    await expect(place.output()).rejects.toThrow('ENOENT');
  });

  test('crash dies of SIGKILL', async () => {
    expect(await play({ crash: true })).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  test('hang does not heed SIGTERM', async () => {
    await place.prepare(script({ hang: true }));
    const child = place.start(files.runner);
    const said = child.stderr.setEncoding('utf8')[Symbol.asyncIterator]() as AsyncIterator<string>;
    expect((await said.next()).value).toBe('the script hangs here\n');
    child.kill('SIGTERM');
    expect((await said.next()).value).toBe('the script hangs on, SIGTERM or not\n');
    child.kill('SIGKILL');
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  });

  test('an unknown placeholder fails the turn and is named', async () => {
    expect(await play({ wait: '1ms' }, { text: '{{steps.0.output}}' })).toMatchObject({
      code: 1,
      stderr: 'suzumio-runner: step 1 (text): unknown placeholder {{steps.0.output}}\n',
    });
  });
});
