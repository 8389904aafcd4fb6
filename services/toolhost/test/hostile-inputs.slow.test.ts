import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { errorCodes } from '@suzumio/contract/errors/codes';
import { sandboxToolpacks, servedToolpacks, toolpackTools } from '@suzumio/protocol/tool-names';
import { artifactsList } from '../src/tools/artifacts-list.js';
import { toolDefinitions } from '../src/tools/catalogue.js';
import { teamYaml } from '../../../test/support/cell.js';
import { hostileInputs } from '../../../test/support/hostile-inputs.js';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let attempt: Begun;
let project: string;
let projects = 0;
beforeAll(async () => {
  bench = await toolhostBench();
});
afterAll(() => bench.close());

/** Begins a turn in a new project: some tools end theirs, or hand the project in. */
async function begin(): Promise<void> {
  projects += 1;
  const more = `tools: { toolpacks: [${servedToolpacks.join(', ')}] }\nturn: { maxToolCalls: 5000 }\n`;
  project = await bench.testing.create(teamYaml.replace('name: team', `name: team-${projects}`) + more);
  attempt = await bench.begin(project, 'ada');
}

const sandboxTools = sandboxToolpacks.flatMap((pack): readonly string[] => toolpackTools[pack]);
const names = servedToolpacks.flatMap((pack): readonly string[] => toolpackTools[pack]);

describe.each(toolDefinitions(names))('$name', (definition) => {
  test('answers or refuses every hostile input, and the turn goes on', async () => {
    await begin();
    for (const [index, { of, input }] of hostileInputs(definition).entries()) {
      const route = sandboxTools.includes(definition.name) ? '/tool/begin' : '/tool';
      const call = { agent: 'ada', turn: attempt.turn, tool: definition.name, input, step: `${index}.0` };
      const url = `${bench.toolhost.runnerUrl}${route}`;
      const { status, body } = await bench.post(url, attempt.answer.toolToken, { project, ...call });
      const code = status < 300 ? 'answered' : String(body['code']);
      const isKnown = status < 300 || (status < 500 && code in errorCodes);
      expect({ of, status, code, isKnown }).toEqual({ of, status, code, isKnown: true });
      expect({ of, code }).not.toMatchObject({ code: 'tool-failed' });
      if (route === '/tool' && of.endsWith(' NUL')) {
        expect({ of, code }).toMatchObject({
          code: expect.stringMatching(/^(tool-input-invalid|artifact-path-invalid)$/),
        });
      }
      if (body['endTurn'] === true || code === 'turn-ended') await begin();
    }
    expect(await attempt.report('heartbeat')).toMatchObject({ status: 200 });
  });
});

describe('a tool that breaks', () => {
  test.each([
    ['before its effect', () => Promise.reject(new TypeError('broken'))],
    ['in its effect', () => Promise.resolve(() => JSON.parse('{') as never)],
  ])('%s is refused to the model, on record, and logged', async (_when, prepare) => {
    await begin();
    const broken = jest.spyOn(artifactsList, 'prepare').mockImplementation(prepare);
    const call = () => attempt.tool('artifacts.list', {}, { step: '0.0' });
    const refused = {
      status: 422,
      body: { code: 'tool-failed', detail: expect.stringMatching(/^artifacts\.list failed/) },
    };
    expect(await call()).toMatchObject(refused);
    broken.mockRestore();
    expect(await call()).toMatchObject(refused);
    expect(bench.logs()).toContainEqual(expect.objectContaining({ msg: 'a tool failed by a defect' }));
    expect(await attempt.tool('artifacts.list', {}, { step: '1.0' })).toMatchObject({ status: 200 });
  });
});
