import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { projectMigrations } from '@suzumio/store/projects/migrations';
import { migrate } from '@suzumio/store/sqlite/migrate';
import { readAgentEnv } from '@suzumio/store/projects/agents';
import { readConfig } from '@suzumio/store/projects/read-project';
import { Sql } from '@suzumio/store/sqlite/sql';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
});
afterEach(() => testing.close());

const withEnv = (env: string) => `name: demo
task: t
backend: { runner: { mode: mock } }
agents:
  zoe: { role: r, prompt: p, env: ${env} }
  ann: { role: r, prompt: p }
  crew: { role: r, prompt: p, count: 2, env: { SHIFT: night } }
`;
const secret = 'hunter2 "quoted" ${x}';
const written = withEnv(`{ DB_PASSWORD: ${JSON.stringify(secret.replace('${', () => '$${'))}, MODE: fast }`);
const kept = { DB_PASSWORD: secret, MODE: 'fast' };

test('values of agents’ variables are in no file of a project but its database, and in no view', async () => {
  await testing.create(written);
  const directory = testing.cell.directory.projectDir('demo');
  for (const name of ['source.yaml', 'resolved.yaml']) {
    expect(await readFile(join(directory, name), 'utf8')).not.toContain('hunter2');
  }
  expect((await readdir(directory)).sort()).toEqual(
    expect.arrayContaining(['project.db', 'resolved.yaml', 'source.yaml']),
  );
  await testing.store('demo', (store) => {
    expect(JSON.stringify(store.config)).not.toContain('hunter2');
    expect(store.config.agents['zoe']?.env).toEqual({ DB_PASSWORD: '(hidden)', MODE: '(hidden)' });
    expect(readAgentEnv(store.reader, 'zoe', 1)).toEqual(kept);
    expect(readAgentEnv(store.reader, 'ann', 1)).toEqual({});
    expect(readAgentEnv(store.reader, 'crew-2', 1)).toEqual({ SHIFT: 'night' });
  });
});

test('a file whose values were hidden makes no project', async () => {
  await expect(testing.create(withEnv('{ DB_PASSWORD: (hidden) }'))).rejects.toMatchObject({
    code: 'invalid-config',
    message: expect.stringContaining('agents.zoe.env.DB_PASSWORD') as unknown,
  });
  expect(testing.cell.catalog.projects.all()).toEqual([]);
});

test('a project of an earlier version is brought to the same', () => {
  const { config } = loadProjectText(written, 'demo.yaml');
  const file = join(testing.root, 'earlier.db');
  const sql = Sql.open(file);
  try {
    const before = projectMigrations.findIndex((migration) => migration.sql.includes('CREATE TABLE agent_env'));
    migrate(sql, projectMigrations.slice(0, before));
    sql.run(
      `INSERT INTO projects (id, status, task, config_json, created_at_ms, status_at_ms) VALUES ('demo', 'initialized', 't', :config, 0, 0)`,
      { config: JSON.stringify(config) },
    );
    Object.keys(config.agents).forEach((id, position) => {
      sql.run(
        `INSERT INTO agents (id, position, base, role, prompt, tools_json, state, state_at_ms) VALUES (:id, :position, 'b', 'r', 'p', '[]', 'quiet', 0)`,
        { id, position },
      );
    });
    migrate(sql, projectMigrations);
    expect(readAgentEnv(sql, 'zoe', 1)).toEqual(kept);
    const { agents, ...rest } = readConfig(sql);
    const { agents: made, ...others } = config;
    expect(rest).toEqual(others);
    expect(Object.keys(agents)).toEqual(Object.keys(made));
    expect(agents['ann']).toEqual(made['ann']);
    expect(agents['zoe']).toEqual({ ...made['zoe'], env: { DB_PASSWORD: '(hidden)', MODE: '(hidden)' } });
  } finally {
    sql.close();
  }
});
