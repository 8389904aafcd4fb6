import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { docker } from '../../test/support/images.js';
import type { Stack } from '../../test/support/stack.js';
import { BenchProject } from '../bench-project.js';

/** Each attack with work that asks as much of the cell, as far as anything honest does. */
export const pairs = [
  { attack: 'wrong questions', work: 'questions' },
  { attack: 'many parts', work: 'questions' },
  { attack: 'reports', work: 'publishing' },
  { attack: 'refusals', work: 'publishing' },
  { attack: 'P0 in a ring', work: 'P1 in a ring' },
] as const;

/** A way in which a crowd keeps its containers busy. */
export type Way = (typeof pairs)[number]['attack' | 'work'];

export interface CrowdPlan {
  way: Way;
  /** How many containers work, in a ring of more agents or each for as long as the slice lasts. */
  containers: number;
  seconds: number;
  /** The provider that its questions go to. */
  model: string;
}

const ringSize = 12;
const image = 'suzumio-bench-visitor:dev';

/** Builds the image whose runner is `visitor.mjs`: it names no sandbox steps, so that it may ask and call as it likes. */
export async function buildVisitor(): Promise<void> {
  await docker('build', '--tag', image, fileURLToPath(new URL('.', import.meta.url)));
}

/** A project whose agents keep to one way until they are stopped; it works when this resolves. */
export async function startCrowd(stack: Stack, name: string, plan: CrowdPlan): Promise<BenchProject> {
  const ring = plan.way === 'P0 in a ring' || plan.way === 'P1 in a ring';
  const { agents, fields } = ring ? ringOf(plan.way.slice(0, 2)) : visitorsOf(plan);
  const crowd = await BenchProject.start(stack, name, agents, fields);
  const count = ring ? ringSize : plan.containers;
  for (let number = 1; number <= count; number += 1) await crowd.post(`member-${number}`, 'Go.');
  return crowd;
}

/** Agents that pass mail on, each to the next. */
function ringOf(priority: string) {
  const pass = (number: number) => ({
    agent: `member-${number}`,
    steps: [
      { tool: 'messages.send', input: { recipient: `member-${(number % ringSize) + 1}`, priority, body: 'Go on.' } },
    ],
  });
  const script = Array.from({ length: ringSize }, (_, index) => pass(index + 1));
  return {
    agents: [`member: { role: member, prompt: Pass it on., tools: [messages.send], count: ${ringSize} }`],
    fields: {
      backend: { docker: { keep: 'never' }, runner: { mode: 'mock', script } },
      protection: { exchanges: 1e6, sameMail: 1e6, emptyTurns: 1e6 },
    },
  };
}

/** Agents whose runner is the visitor; its prompt says what to do, and for how long. */
function visitorsOf({ way, containers, seconds, model }: CrowdPlan) {
  const models = {
    providers: { local: { type: 'openai-compatible', baseURL: model, apiKeyEnv: 'BENCH_MODEL_KEY' } },
    presets: { main: { provider: 'local', model: 'scripted' } },
  };
  const tools = way === 'publishing' ? ['artifacts.publish'] : [];
  return {
    agents: [
      `member: { role: member, prompt: ${JSON.stringify(`${seconds} ${way}`)}, tools: ${JSON.stringify(tools)}, count: ${containers} }`,
    ],
    fields: {
      backend: {
        docker: { keep: 'never' },
        image,
        runner: { mode: 'mock', model: 'main', models },
      },
      turn: { maxSteps: 100_000, maxToolCalls: 100_000 },
    },
  };
}

/** A provider that reads whatever it is asked and says the same. */
export async function startModel() {
  const server = createServer((request, response) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'scripted', choices, usage }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
