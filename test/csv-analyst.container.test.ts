import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { type Behaviour, type ModelRequest, type ModelServer, startModelServer } from './support/model-server.js';
import { eventually } from './support/poll.js';

const place = fileURLToPath(new URL('../examples/csv-analyst/', import.meta.url));

let server: ModelServer;
let world: CliWorld;

beforeEach(async () => {
  server = await startModelServer(play);
  const providers = `providers: [{ baseURL: "${server.baseURL}", apiKeyEnv: OPENAI_API_KEY, ownPrices: true }]\n`;
  world = await createCliWorld({ policy: `${anyBackend}workspaces: { roots: [${place}] }\n${providers}` });
  world.setEnvironment({ OPENAI_API_KEY: 'sk-test-0123456789' });
});
afterEach(async () => {
  await world.remove();
  await server.close();
});

/** Runs a file of the example until its report is handed in. */
async function reported(name: string): Promise<string> {
  const { config } = loadProjectFile(join(place, name), { env: {} });
  const { models } = config.backend.runner;
  // The same file, and another address.
  if (models?.providers['main']) models.providers['main'].baseURL = server.baseURL;
  const initialised = await world.run('init', await world.write(name, renderConfig(config)));
  expect(initialised).toMatchObject({ code: 0 });
  await world.serve();
  await world.run('start', 'csv-analyst');
  await world.run('send', 'csv-analyst', 'editor', 'P1', 'When did the water stand highest last week?');
  const report = () => world.run('report', 'csv-analyst');
  await eventually('a report is handed in', async () => (await report()).code === 0).catch(async (error: unknown) => {
    const { out } = await world.run('tool-calls', 'csv-analyst', '--json');
    throw new Error(`${String(error)}\n${out}`);
  });
  return (await report()).out;
}

interface Call {
  agent: string;
  tool: string;
  status: string;
  output: unknown;
}

async function calls(agent: string): Promise<Call[]> {
  const made = JSON.parse((await world.run('tool-calls', 'csv-analyst', '--json')).out) as Call[];
  expect(made.filter(({ status }) => status !== 'succeeded')).toEqual([]);
  return made.filter((call) => call.agent === agent);
}

async function plot(): Promise<Buffer> {
  const file = join(world.directory, 'plot.png');
  expect(await world.run('artifacts', 'get', 'csv-analyst', 'levels.png', '--output', file, '--force')).toMatchObject({
    code: 0,
  });
  return readFile(file);
}

describe('the team of csv-analyst', () => {
  test('reads a table with pandas, draws a plot, looks at it and reports, as its script says', async () => {
    const report = await reported('csv-analyst.yaml');
    expect(report).toContain('Highest: 322 cm, Thursday 18:00. Mean: 216.6 cm of 168 readings.');
    expect(report).toContain('](levels.png)');
    const shown = (await calls('editor')).map(({ output }) => JSON.stringify(output)).join('\n');
    expect(shown).toMatch(/levels\.png: \[image png 640x480, \d+ kB\]/);
    expect((await calls('analyst')).map(({ tool }) => tool)).toEqual([
      'file.read',
      'file.write',
      'shell.exec',
      'file.read',
      'artifacts.publish',
      'artifacts.publish',
      'messages.send',
    ]);
    const first = await plot();
    expect(first.subarray(1, 4).toString()).toBe('PNG');
    await world.run('request-changes', 'csv-analyst', 'editor', 'And when did it stand lowest?');
    await eventually('the second question is answered', async () =>
      /Lowest: 150 cm, [A-Z][a-z]+day \d\d:\d\d\./.test((await world.run('report', 'csv-analyst')).out),
    );
    expect((await plot()).equals(first)).toBe(false);
  });

  test('does so with models that see: they get the plot as it was published, byte by byte', async () => {
    const report = await reported('csv-analyst-ai.yaml');
    expect(report).toContain('As levels.png shows');
    const published = await plot();
    const inQuestions = server.requests.map((request) => [agentOf(request), imagesIn(request)] as const);
    const seen = (agent: string) => inQuestions.filter(([of, images]) => of === agent && images.length > 0);
    const url = `data:image/png;base64,${published.toString('base64')}`;
    expect(seen('analyst').length).toBeGreaterThan(1);
    expect(seen('editor').length).toBeGreaterThan(0);
    for (const [, images] of [...seen('analyst'), ...seen('editor')]) expect(images).toEqual([url]);
    // What people are shown of it is words.
    const conversation = await world.run('turns', 'show', 'csv-analyst', 'editor:2', '--conversation');
    expect(conversation.out).toContain('levels.png: [image png 640x480, ');
    expect(conversation.out).not.toContain(published.toString('base64').slice(0, 60));
    expect((await calls('editor')).map(({ tool }) => tool)).toEqual([
      'messages.send',
      'artifacts.read',
      'artifacts.read',
      'completion.submit',
    ]);
  });
});

const agentOf = ({ body }: ModelRequest) => /^You are ([\w-]+),/.exec(String(body.messages[0]?.content))?.[1] ?? '';

interface Part {
  type: string;
  image_url?: { url: string };
}

const imagesIn = ({ body }: ModelRequest) =>
  body.messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Part[]).flatMap(({ image_url: image }) => image?.url ?? []) : [],
  );

const call = (name: string, input: object) => ({ name, arguments: input });

/** What good models do in this team. */
function play(request: ModelRequest): Behaviour {
  const { messages } = request.body;
  const prompt = messages.findLastIndex(({ role, content }) => role === 'user' && typeof content === 'string');
  const step = messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
  const mail = String(messages[prompt]?.content);
  if (agentOf(request) === 'analyst') return analyse(step);
  if (mail.slice(mail.indexOf('# Unread mail')).includes('I have published')) return edit(step, request);
  if (step > 0) return { text: 'Passed on.' };
  return { calls: [call('messages_send', { recipient: 'analyst', body: 'When did the water stand highest?' })] };
}

const program = `
import matplotlib.pyplot as plt
import pandas as pd
levels = pd.read_csv("readings.csv", parse_dates=["time"]).set_index("time")["level_cm"]
figure, axes = plt.subplots(figsize=(6.4, 4.8), dpi=100)
levels.plot(ax=axes)
figure.savefig("levels.png")
print(levels.idxmax(), levels.max())
`;

function analyse(step: number): Behaviour {
  const steps: Behaviour[] = [
    { calls: [call('file_list', {}), call('file_read', { path: 'readings.csv', limit: 5 })] },
    { calls: [call('shell_exec', { command: `python3 - <<'END'${program}END` })] },
    { calls: [call('file_read', { path: 'levels.png' })] },
    {
      calls: [
        call('artifacts_publish', { path: 'levels.png' }),
        call('artifacts_publish', { name: 'figures.md', content: '322 cm on Thursday at 18:00.\n' }),
      ],
    },
    {
      calls: [
        call('messages_send', {
          recipient: 'editor',
          body: 'I have published levels.png and figures.md.',
          attachments: ['levels.png', 'figures.md'],
        }),
      ],
    },
  ];
  return steps[step] ?? { text: 'Drew the levels.' };
}

function edit(step: number, request: ModelRequest): Behaviour {
  if (step === 0) {
    return {
      calls: [call('artifacts_read', { name: 'figures.md' }), call('artifacts_read', { name: 'levels.png' })],
    };
  }
  const shows = imagesIn(request).length === 1 ? 'shows' : 'should show';
  return { calls: [call('completion_submit', { report: `As levels.png ${shows}: 322 cm on Thursday at 18:00.` })] };
}
