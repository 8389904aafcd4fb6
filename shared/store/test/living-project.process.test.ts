import { randomInt } from 'node:crypto';
import { afterEach, expect, test } from '@jest/globals';
import { filesOfToolpack } from '@suzumio/protocol/toolpacks/files';
import { ContentStore } from '@suzumio/store/content/content-store';
import { readAgentEnv } from '@suzumio/store/projects/agents';
import { contradictionsIn } from '@suzumio/store/projects/contradictions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { children } from '../../../test/support/child.js';
import { type TestCell, testCell } from '../../../test/support/cell.js';

const changeProject = new URL('./fixtures/change-project.mjs', import.meta.url);
const wantedVersions = 1_000;
const rounds = 6;

let testing: TestCell;
afterEach(() => testing.close());
const startChild = children();

test(`of ${String(wantedVersions)} changes by processes that are killed, each is in force whole or not at all`, async () => {
  testing = await testCell();
  const project = await testing.create();
  const applied = new Map<number, string>();
  for (let round = 1; round <= rounds; round += 1) {
    // Two, so that a version is also refused because the other's came first.
    const writers = [
      startChild(changeProject, testing.root, project),
      startChild(changeProject, testing.root, project),
    ];
    const reading = Promise.allSettled(
      writers.map(async (child) => {
        for (;;) {
          const [version = '', mark = ''] = (await child.line()).split(' ');
          expect(applied.get(Number(version))).toBeUndefined();
          applied.set(Number(version), mark);
        }
      }),
    );
    const wanted = (wantedVersions / rounds) * round + randomInt(20);
    while (applied.size < wanted) await new Promise((resolve) => setTimeout(resolve, 1));
    await Promise.all(writers.map((child) => child.kill()));
    await reading;
    await testing.restart();
    await testing.store(project, async (store) => {
      expect(contradictionsIn(store.reader)).toEqual({});
      expectWhole(store, applied);
      await expectToolpacks(store, testing.cell.directory.projectDir(project));
    });
  }
  expect(applied.size).toBeGreaterThanOrEqual(wantedVersions);
});

/** Each version that was told of is there, all of it has the mark of its source, and the newest is what the rows say. */
function expectWhole({ reader, config }: ProjectStore, applied: ReadonlyMap<number, string>): void {
  const versions = reader.all<{ number: number; source: string | null; json: string }>(
    'SELECT number, source, config_json AS json FROM config_versions WHERE number > 1 ORDER BY number',
  );
  const sources = new Map(versions.map(({ number, source }) => [number, source]));
  expect([...applied].filter(([number, mark]) => sources.get(number) !== mark)).toEqual([]);
  for (const { number, source, json } of versions) {
    const of = JSON.parse(json) as typeof config;
    const marks = [of.task, ...Object.values(of.agents).flatMap(({ role, prompt }) => [role, prompt])];
    const values = Object.entries(of.agents).map(([id, { env }]) => [
      readAgentEnv(reader, id, number)['MARK'],
      env === undefined ? undefined : source,
    ]);
    expect(new Set(marks)).toEqual(new Set([source]));
    for (const [value, wanted] of values) expect(value).toBe(wanted);
  }
  const events = reader.all<{ version: number }>(
    `SELECT data_json ->> '$.version' AS version FROM events WHERE type = 'config.changed' ORDER BY seq`,
  );
  expect(events.map(({ version }) => version)).toEqual(versions.map(({ number }) => number));
  const rows = reader.all<{ id: string; prompt: string; tools: string }>(
    'SELECT id, prompt, tools_json AS tools FROM agents WHERE retired_version IS NULL ORDER BY position',
  );
  expect(rows.map(({ id, prompt, tools }) => [id, prompt, JSON.parse(tools) as unknown])).toEqual(
    Object.entries(config.agents).map(([id, { prompt, tools }]) => [id, prompt, tools]),
  );
}

/** The toolpack of each version has the files of that version. */
async function expectToolpacks({ reader }: ProjectStore, directory: string): Promise<void> {
  const content = new ContentStore(directory);
  const packs = reader.all<{ source: string; sha256: string }>(
    `SELECT source, config_json ->> '$.tools.toolpacks[1].taken.sha256' AS sha256 FROM config_versions
     WHERE config_json ->> '$.tools.toolpacks[1].taken.sha256' IS NOT NULL`,
  );
  expect(packs.length).toBeGreaterThan(0);
  for (const { source, sha256 } of packs) {
    const manifest = filesOfToolpack(await content.readStart(sha256, 10_000)).get('suzumio.toolpack.json');
    expect(Buffer.from(manifest ?? '').toString()).toContain(`"description":"${source}"`);
  }
}
