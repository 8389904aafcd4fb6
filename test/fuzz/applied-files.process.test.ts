import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ConfigVersionAnswer } from '@suzumio/contract/operations/configs';
import { eventually } from '../support/poll.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { seeded } from '../support/seeded.js';
import { startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';

// Files are applied to a team at work by several people at once, while services are killed: the versions are in order, each is
// whole, what was acknowledged is there, and each turn ends with the version that it began with.

const { FUZZ_SEED = '20261127' } = process.env;
const random = seeded(Number(FUZZ_SEED));
const oneOf = <Kind>(kinds: readonly Kind[]): Kind => kinds[Math.floor(random() * kinds.length)] as Kind;

/** Every part of the file says which one it is. */
const fileOf = (mark: string, name = 'team') => `
name: ${name}
task: Task ${mark}.
channels: ["#${mark}"]
protection: off
scheduler: { maxPromptMessages: 1, maxTurnsPerHour: unlimited }
turn: { maxAttempts: 100, maxToolCalls: ${String(100 + Math.floor(random() * 100))} }
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: ada
        steps:
          - run: { command: "sleep 0.${String(Math.floor(random() * 9))}" }
          - text: "Did ${mark}."
      - agent: ben
        steps: [{ text: "Did ${mark}." }]
agents:
  ada: { role: writer, prompt: "Prompt ${mark}.", tools: ["*"], env: { MARK: ${mark} } }
${['ben', 'cy', 'di'].map((agent) => (random() < 0.7 ? `  ${agent}: { role: reader, prompt: "Prompt ${mark}.", tools: [messages.send] }\n` : '')).join('')}`;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ backends: ['process'], workers: 2, slots: 2, leaseMs: 5_000 });
  expect(await stack.api('POST', '/projects', { file: fileOf('m0'), start: true })).toMatchObject({ status: 201 });
});
afterAll(() => stack.stop());

interface Applied {
  mark: string;
  status: number;
  version: number;
}

const newestVersion = async () =>
  ((await stack.api('GET', '/projects/team/config/source')).body as { version: number }).version;

/** Applies a file, or brings a version back; nothing is known of one whose answer did not come. */
async function apply(number: number): Promise<Applied | undefined> {
  const mark = `m${String(number)}`;
  const base = Math.max(1, (await newestVersion()) - (random() < 0.1 ? 1 : 0));
  const wanted =
    random() < 0.1
      ? { revert: 1 + Math.floor(random() * base) }
      : { file: fileOf(mark, random() < 0.05 ? 'other' : 'team') };
  const { status, body } = await stack.api('PUT', '/projects/team/config', { ...wanted, baseVersion: base });
  const { version = 0, code, changes } = body as { version?: number; code?: string; changes?: unknown[] };
  if (status === 409) {
    expect(['config-conflict', 'config-change-refused']).toContain(code);
    // None, where a version was brought back that says what the base said.
    expect(changes).toBeInstanceOf(Array);
  }
  return 'file' in wanted ? { mark, status, version } : undefined;
}

test('versions are in order and whole, and turns end with what they began with', async () => {
  const cases = casesOf('applied files');
  const known: Applied[] = [];
  let next = 1;
  let answered = 0;
  let isOver = false;
  const people = Array.from({ length: 4 }, async () => {
    while (answered < cases) {
      try {
        const done = await apply(next++);
        if (done) known.push(done);
        answered += 1;
      } catch (error) {
        // The API is away; anything else is a defect.
        if ((error as Error).name !== 'TypeError') throw error;
        await sleep(50);
      }
    }
  });
  const post = async () => {
    for (let mail = 0; !isOver; mail += 1) {
      const body = { recipient: oneOf(['ada', 'ben']), body: `Mail ${String(mail)}.` };
      await stack.api('POST', '/projects/team/messages', body).catch(() => undefined);
      await sleep(100);
    }
  };
  const kill = async () => {
    const { api, toolhost, scheduler, 'turn-worker': workers } = stack.services;
    while (!isOver) {
      await sleep(random() * 1_000);
      const victim = oneOf([...api, ...api, ...api, ...toolhost, ...scheduler, ...workers]);
      await victim.kill();
      await victim.start();
    }
  };
  const disturbing = Promise.all([post(), kill()]);
  try {
    await Promise.all(people);
  } finally {
    isOver = true;
    await disturbing;
  }

  const database = openProject(stack.root, 'team');
  try {
    await eventually(
      'all turns are over',
      () =>
        database.all(`SELECT 1 FROM inbox JOIN agents ON id = recipient
      UNION ALL SELECT 1 FROM turns WHERE status IN ('queued', 'running')`).length === 0,
    );
    expect(brokenInvariants(database)).toEqual([]);
    const newest = await newestVersion();
    const versions: (ConfigVersionAnswer & { mark: string })[] = [];
    for (let number = 1; number <= newest; number += 1) {
      const version = (await stack.api('GET', `/projects/team/config/versions/${String(number)}`))
        .body as ConfigVersionAnswer;
      const { config, file, reverts } = version;
      const mark = /m\d+/.exec(config.task)?.[0] ?? '';
      expect(version.version).toBe(number);
      expect(new Set(JSON.stringify(config).match(/\bm\d+\b/g))).toEqual(new Set([mark]));
      if (reverts === null) expect(new Set(file?.match(/\bm\d+\b/g))).toEqual(new Set([mark]));
      else expect(config).toEqual(versions[reverts - 1]?.config);
      versions.push({ ...version, mark });
    }
    const numbers = 'SELECT number FROM config_versions ORDER BY number';
    expect(database.all<{ number: number }>(numbers).map(({ number }) => number)).toEqual(
      versions.map(({ version }) => version),
    );
    const told = `SELECT data_json ->> '$.version' AS version FROM events WHERE type = 'config.changed' ORDER BY seq`;
    expect(database.all<{ version: number }>(told).map(({ version }) => version)).toEqual(
      versions.slice(1).map(({ version }) => version),
    );

    const written = versions.filter(({ reverts }) => reverts === null).map(({ mark }) => mark);
    expect(new Set(written).size).toBe(written.length);
    for (const { mark, status, version } of known) {
      if (status === 200) expect(versions[version - 1]?.mark).toBe(mark);
      else expect([409, 422].includes(status) && written.includes(mark)).toBe(false);
    }
    const acknowledged = known.filter(({ status }) => status === 200);
    // How many are is for the machine to say: four people apply at a time, and services are killed.
    expect(acknowledged.length).toBeGreaterThan(0);

    const inForce = 'SELECT id FROM agents WHERE retired_version IS NULL ORDER BY position';
    expect(database.all<{ id: string }>(inForce).map(({ id }) => id)).toEqual(
      Object.keys(versions.at(-1)?.config.agents ?? {}),
    );
    const turns = database.all<{ version: number; prompt: string; text: string | null }>(
      `SELECT config_version AS version, prompt, output_text AS text FROM turns WHERE status = 'completed'`,
    );
    expect(new Set(turns.map(({ version }) => version)).size).toBeGreaterThan(1);
    for (const { version, prompt, text } of turns) {
      const mark = versions[version - 1]?.mark ?? '';
      expect(new Set(prompt.match(/\bm\d+\b/g))).toEqual(new Set([mark]));
      expect(text).toBe(`Did ${mark}.`);
    }
  } finally {
    database.close();
  }
});
