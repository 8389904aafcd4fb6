import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentCommand, baseImage, deriveImage } from './support/images.js';
import { World } from './support/world.js';

/** Knows the minimal contract only: three fields of the input, one route, one file. */
const foreignRunner = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const dir = process.env.SUZUMIO_TURN_DIR ?? '/turn';
const { project, agent, turn, controllerUrl, token, workspace } = JSON.parse(readFileSync(dir + '/input.json', 'utf8'));
const call = async (tool, input) => {
  const answer = await fetch(controllerUrl + '/tool', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
    body: JSON.stringify({ project, agent: agent.id, turn: turn.id, tool, input }),
  });
  return { status: answer.status, body: await answer.json() };
};
const { body } = await call('messages.send', { recipient: 'user', priority: 'P1', body: 'hello from ' + agent.id });
writeFileSync(workspace + '/report.md', '# Report');
const published = await call('artifacts.publish', { path: 'report.md' });
const refused = await call('test.refused', {});
console.log('a foreign runner was here');
writeFileSync(dir + '/output.json', JSON.stringify({ text: JSON.stringify({ echo: body.output.echo, published: published.status, refused: refused.status }) }));
`;

describe.each(['socket', 'stdio'] as const)('through the %s door', (door) => {
  let world: World;
  let foreign: Awaited<ReturnType<typeof deriveImage>>;

  beforeAll(async () => {
    foreign = await deriveImage(baseImage, [agentCommand]);
    world = await World.open({ settings: { door } });
  });

  afterAll(async () => {
    await world.close();
    await foreign.remove();
  });

  test('the runner of Suzumio plays a turn', async () => {
    const turn = await world.run({
      steps: [
        { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'hello' } },
        { write: { path: 'notes/a.txt', text: 'a note' } },
        { tool: 'artifacts.publish', input: { path: 'notes/a.txt' } },
        { text: 'the text of the turn' },
      ],
    });
    expect(turn.failed).toBeUndefined();
    expect(turn.completed?.output.text).toBe('the text of the turn');
    expect(turn.completed?.stats).toMatchObject({ exitCode: 0, container: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const calls = world.toolhost.toolCalls.filter((call) => call.turn === turn.answer.input.turn.id);
    expect(calls.map((call) => call.tool)).toEqual(['messages.send', 'artifacts.publish']);
    expect(calls[1]?.input).toMatchObject({ path: 'notes/a.txt', sizeBytes: 6, sha256: expect.any(String) });
    expect(await world.toolhost.filesOf(turn.completed?.snapshot)).toMatchObject({
      notes: { kind: 'directory' },
      'notes/a.txt': { kind: 'file', sizeBytes: 6, executable: false },
    });
  });

  test('a runner that knows the minimal contract only plays a turn, with the shim in front of it', async () => {
    const turn = await world.run({ image: foreign.name, program: foreignRunner, agent: 'foreign' });
    expect(turn.failed).toBeUndefined();
    expect(JSON.parse(turn.completed?.output.text ?? '')).toEqual({
      echo: { recipient: 'user', priority: 'P1', body: 'hello from foreign' },
      published: 200,
      refused: 422,
    });
    expect(turn.log).toContain('a foreign runner was here');
    const calls = world.toolhost.toolCalls.filter((call) => call.turn === turn.answer.input.turn.id);
    expect(calls[1]?.input).toMatchObject({ path: 'report.md', sizeBytes: 8, sha256: expect.any(String) });
  });

  test('a program that writes nonsense to its standard output disturbs nobody', async () => {
    const nonsense = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
    try {
      const turn = await world.run({
        image: nonsense.name,
        agent: 'nonsense',
        program: `
          import fs from 'node:fs';
          import { execFileSync } from 'node:child_process';
          execFileSync('sh', ['-c', 'head -c 3000000 /dev/urandom'], { stdio: 'inherit' });
          // The engine keeps no order between the two: each ends with the word.
          console.log('and the last word');
          console.error('and the last word');
          fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'fine' }));
        `,
      });
      expect(turn.completed?.output.text).toBe('fine');
      expect(turn.log?.includes('and the last word')).toBe(true);
      const sane = await world.run({ steps: [{ tool: 'messages.send', input: {} }, { text: 'undisturbed' }] });
      expect(sane.completed?.output.text).toBe('undisturbed');
    } finally {
      await nonsense.remove();
    }
  });

  test('no container, directory or state of a turn is left', async () => {
    const { default: fs } = await import('node:fs/promises');
    await world.worker.stop();
    expect(await world.containers()).toEqual([]);
    for (const name of ['turns', 'd', 'attempts']) expect(await fs.readdir(`${world.directory}/w/${name}`)).toEqual([]);
  });
});
