import type { ArtifactView } from '../../shared/contract/src/model/artifact.js';
import { type EndedTurn, endedTurn } from './ended-turn.js';
import { eventually } from './poll.js';
import { brokenInvariants, openProject } from './project.js';
import type { Stack } from './stack.js';

/** One step of a script. */
export type Step = Readonly<Record<string, unknown>>;

/** What is said of a turn by what its commands printed, or how they failed. */
export const commands = (...all: string[]): Step[] => [
  ...all.map((command) => ({ run: { command: `(${command}) 2>&1 || echo "exit $?"` } })),
  { text: all.map((_, index) => `{{steps.${String(index)}.output}}`).join('\n--\n') },
];

/** A team that writes artifacts as files: ada and cal publish, ben has no tool for it. */
export class ArtifactTeam {
  constructor(
    private readonly stack: Stack,
    private readonly project: string,
  ) {}

  /** @param rules by agent: its script for each turn, and `again` for all later attempts of its first */
  static async create(
    stack: Stack,
    name: string,
    kind: 'docker' | 'process',
    rules: readonly { agent: string; when?: object; steps: Step[] }[],
  ): Promise<ArtifactTeam> {
    const file = {
      name,
      task: 'Write, and read what others write.',
      tools: { toolpacks: ['files'] },
      turn: { maxAttempts: 5 },
      backend: { kind, docker: { keep: 'never' }, runner: { mode: 'mock', script: rules } },
      agents: {
        ada: { role: 'writer', prompt: 'Write.', tools: ['messages.send', 'artifacts.publish', 'file.*'] },
        ben: { role: 'reader', prompt: 'Read.', tools: ['file.*'] },
        cal: { role: 'writer', prompt: 'Write.', tools: ['artifacts.publish'] },
      },
    };
    const { status, body } = await stack.api('POST', '/projects', { file: JSON.stringify(file), start: true });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return new ArtifactTeam(stack, name);
  }

  async send(agent: string): Promise<void> {
    const message = { recipient: agent, priority: 'P1', body: 'Go on.' };
    const { status, body } = await this.stack.api('POST', `/projects/${this.project}/messages`, message);
    if (status !== 201) throw new Error(JSON.stringify(body));
  }

  ended(turn: string): Promise<EndedTurn> {
    return endedTurn(this.stack, this.project, turn);
  }

  /** Has the next turn of an agent run, and returns what it said. */
  async turn(turn: string): Promise<string> {
    await this.send(turn.split(':')[0] ?? '');
    return (await this.ended(turn)).text;
  }

  /** Waits until the second step of a turn is on record, which is after its first was captured. */
  async untilCaptured(turn: string): Promise<void> {
    await eventually(`${turn} has sent its mail`, async () => {
      const { status, body } = await this.stack.api('GET', `/projects/${this.project}/turns/${turn}`);
      const calls = status === 200 ? (body as { calls: { step: string; status: string }[] }).calls : [];
      return calls.some(({ step, status: is }) => step === '1.0' && is === 'succeeded');
    });
  }

  async artifacts(): Promise<ArtifactView[]> {
    const { body } = await this.stack.api('GET', `/projects/${this.project}/artifacts`);
    return (body as { items: ArtifactView[] }).items;
  }

  /** What is wrong with the project's records. */
  broken(): unknown[] {
    const database = openProject(this.stack.root, this.project);
    try {
      return brokenInvariants(database);
    } finally {
      database.close();
    }
  }
}
