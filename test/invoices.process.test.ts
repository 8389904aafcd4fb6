import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { eventually } from './support/poll.js';

const example = fileURLToPath(new URL('../examples/invoices', import.meta.url));

let world: CliWorld;
beforeAll(async () => {
  world = await createCliWorld({
    policy: `backends: [process]\nworkspaces: { roots: [${example}] }\ntoolpacks: { directories: [${example}] }\n`,
  });
  await world.serve();
});
afterAll(() => world.remove());

test('the clerks of the example check, correct and number their invoices', async () => {
  const { config } = loadProjectFile(join(example, 'invoices.yaml'), { env: {} });
  const file = renderConfig({ ...config, backend: { ...config.backend, kind: 'process' } });
  expect(await world.run('init', await world.write('invoices.yaml', file))).toMatchObject({ code: 0, err: '' });
  await world.run('start', 'invoices');
  await world.run('send', 'invoices', 'clerk', 'P1', 'Please number the invoices.');
  const list = async <Item>(...command: string[]) => JSON.parse((await world.run(...command, '--json')).out) as Item[];
  await eventually('both turns are completed', async () => {
    const turns = await list<{ status: string }>('turns', 'invoices');
    return turns.length === 2 && turns.every(({ status }) => status === 'completed');
  });

  type Call = { agent: string; step: string; tool: string; status: string; output: unknown };
  const calls = await list<Call>('tool-calls', 'invoices');
  const of = (agent: string) =>
    calls
      .filter((call) => call.agent === agent && call.tool.startsWith('invoices') && !call.step.includes('/'))
      .map(({ tool, status, output }) => [tool.slice(9), status, output]);
  const failed = (message: string) => ({ code: 'toolpack-failed', message: expect.stringContaining(message) });
  expect(of('clerk')).toEqual([
    ['check', 'succeeded', expect.stringContaining('"cents":3200,"currency":"EUR"')],
    ['number', 'succeeded', 'R-2026-100'],
    ['number', 'succeeded', 'R-2026-100'],
    ['number', 'failed', failed('tea.csv is R-2026-100 already, of 3200 cents')],
  ]);
  expect(of('deputy')).toEqual([
    ['check', 'failed', failed('cups.csv:1: expected item,quantity,price, got cups,four,6.25')],
    ['check', 'succeeded', expect.stringContaining('"cents":2500')],
    ['number', 'succeeded', 'R-2026-101'],
  ]);
  // What a call asks of its controller is no call of its turn.
  const completed = await list<{ agent: string; data: { calls: number } }>(
    ...['events', 'invoices', '--type', 'turn.completed'],
  );
  expect(completed.map(({ agent, data }) => [agent, data.calls])).toEqual([
    ['clerk', 6],
    ['deputy', 5],
  ]);
  const kept = join(world.root, 'projects/invoices/toolpacks/invoices/numbers.json');
  expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject([{ by: 'clerk' }, { by: 'deputy', cents: 2500 }]);
  const shown = await world.run('turns', 'show', 'invoices', 'deputy:1', '--conversation');
  expect(shown.out).toContain('expected item,quantity,price, got cups,four,6.25');
});
