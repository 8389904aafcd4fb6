import { expireLease } from '@suzumio/store/turns/leases';
import { type ModelServer, startModelServer } from '../../../test/support/model-server.js';
import {
  allowing,
  type Begun,
  begun,
  type ToolhostBench,
  toolhostBench,
} from '../../../services/toolhost/test/toolhost-client.js';
import { createModelClient, type ModelCaller } from '../../src/ai/model-client.js';
import { think } from '../../src/ai/think.js';
import { connectorTo } from '../../src/door/connector.js';
import { DoorClient } from '../../src/door/door-client.js';
import { SandboxSteps } from '../../src/sandbox/sandbox-steps.js';
import { createToolClient } from '../../src/tools/tool-client.js';

/** A runner that is gone: it asks nothing from some step on. */
export class Killed extends Error {}

export interface TurnOptions {
  /** The step of the first question that it does not ask any more. */
  killedAt?: number;
  /** Whether it is a runner of before, which knows of no references. */
  isOld?: boolean;
}

interface NextOptions {
  /** The number of the attempt that is over. */
  attempt?: number;
  /** What happens to the data while the ToolHost is stopped. */
  whileClosed?: () => void;
}

/** Agents that think with the models of a server that a test plays, and their turns as a runner takes them. */
export class AttachingTeam {
  private constructor(
    readonly server: ModelServer,
    readonly bench: ToolhostBench,
  ) {}

  static async start(): Promise<AttachingTeam> {
    const server = await startModelServer(() => ({ status: 500 }));
    return new AttachingTeam(server, await toolhostBench(allowing({ baseURL: server.baseURL })));
  }

  /** @param presets of which the agents have `main` */
  create({
    name = 'attached',
    presets = 'main: { provider: p, model: m }',
    agents = ['ada', 'ben'],
  } = {}): Promise<string> {
    return this.bench.testing.create(`
name: ${name}
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { p: { type: openai-compatible, baseURL: "${this.server.baseURL}" } }
      presets: { ${presets} }
turn: { maxAttempts: 9 }
agents:
${agents.map((agent) => `  ${agent}: { role: thinker, prompt: Think., tools: ["*"] }`).join('\n')}
`);
  }

  async takeTurn(attempt: Begun, options: TurnOptions = {}): Promise<string> {
    const url = this.bench.toolhost.runnerUrl;
    const { input, toolToken: token } = attempt.answer;
    const connector = connectorTo(url, process);
    const log = () => undefined;
    const door = new DoorClient(connector, { patienceMs: 500, log });
    const turn = { ...input, workspace: '/nowhere', controllerUrl: url, token };
    const model = createModelClient(connector, { token, patienceMs: 500, timeoutMs: 60_000, log, onText: log });
    const output = await think(turn, {
      model: asked(model, options),
      tools: createToolClient(door, turn, new SandboxSteps(door, turn).write),
      log,
    });
    return output.text;
  }

  /** Takes an agent's next turn to its end. */
  async completeTurn(project: string, agent: string, body?: string): Promise<string> {
    const attempt = await this.bench.begin(project, agent, body);
    const text = await this.takeTurn(attempt);
    await attempt.report('complete', { output: { text } });
    return text;
  }

  /** The next attempt of a turn of ada's whose runner is gone, at a ToolHost that has begun anew. */
  async nextAttempt(project: string, { turn }: Begun, { attempt = 1, whileClosed }: NextOptions = {}) {
    const { testing } = this.bench;
    await this.bench.restart(allowing({ baseURL: this.server.baseURL }), whileClosed);
    testing.setNow(testing.cell.context.now() + 60_000);
    await testing.write(project, (tx) => expireLease(tx, { turn, attempt }));
    const { body } = await this.bench.claim(project, turn);
    return begun(this.bench, project, 'ada', turn, body as never);
  }

  async close(): Promise<void> {
    await this.bench.close();
    await this.server.close();
  }
}

function asked(model: ModelCaller, { killedAt = Infinity, isOld = false }: TurnOptions): ModelCaller {
  return {
    async ask(question) {
      if (Number(question.step) >= killedAt) throw new Killed();
      const result = await model.ask(question);
      if (isOld && 'answer' in result) {
        delete result.answer.reference;
        delete result.answer.reading;
      }
      return result;
    },
  };
}
