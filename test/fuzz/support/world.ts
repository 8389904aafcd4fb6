import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClaimAnswer } from '../../../shared/protocol/src/attempts.js';
import { Sql } from '../../../shared/store/src/sqlite/sql.js';
import { eventually } from '../../support/poll.js';
import { type Stack, startStack } from '../../support/stack.js';
import { vitalsArguments, Watch } from './vitals.js';

/** A team with so many agents that one whose turn has come to an end can be left alone. */
export const projectFile = (name: string): string => `
name: ${name}
task: Do the work.
channels: [{ name: "#team", members: [ada, ben] }]
backend: { runner: { mode: mock } }
git: { shared: true }
turn: { maxToolCalls: 100000 }
agents:
  ada: { role: writer, prompt: Write., tools: ["*"] }
  ben: { role: reader, prompt: Read., displayName: Benny, tools: ["*"] }
  cat: { role: watcher, prompt: Watch., tools: [] }
  hand: { role: helper, prompt: Help., tools: ["*"], count: 200 }
  desk: { role: clerk, prompt: Answer., tools: ["*"], backend: external }
`;

/** Services as processes of their own, which tell of themselves, with no worker but the test. */
export interface World {
  readonly stack: Stack;
  /** What their processes hold. */
  readonly watch: Watch;
  /** Where they tell of it. */
  readonly vitalsDirectory: string;
  /** Makes a project and starts it, where it is not there or does not run. */
  mend(project: string): Promise<void>;
  /** Has a turn of another agent each time queued and claims it, as a worker would. */
  begin(project: string): Promise<ClaimAnswer>;
  isRunning(project: string, turn: string): Promise<boolean>;
  /**
   * Lets attempts be refused and contradict their journal as often as they like, for campaigns that have one attempt for
   * many cases: it would be ended, and before that be answered once a second.
   */
  forgive(project: string): void;
  /** Fails when anything went wrong in a service of which no answer told. */
  judge(): void;
  close(): Promise<void>;
}

/** Else most answers would be that there were too many questions. */
const unbounded = {
  SUZUMIO_READS_PER_SECOND: '0',
  SUZUMIO_WRITES_PER_SECOND: '0',
  SUZUMIO_FAILURES_PER_SECOND: '0',
};

export async function startWorld(): Promise<World> {
  const vitalsDirectory = await mkdtemp(join(tmpdir(), 'suzumio-fuzz-'));
  const stack = await startStack({
    workers: 0,
    leaseMs: 600_000,
    sweepMs: 500,
    policy: { ceilings: { maxToolCalls: 100_000 } },
    nodeArguments: vitalsArguments,
    environment: { FUZZ_VITALS: vitalsDirectory, SUZUMIO_LOG_LEVEL: 'warn', ...unbounded },
  });
  const post = async (path: string, body: unknown = {}) => {
    const answer = await stack.api('POST', path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  const [toolhost] = stack.toolhosts;
  if (!toolhost) throw new Error('there is no ToolHost');
  const [api, toolhostProcess] = [...stack.services.api, ...stack.services.toolhost];
  if (!api || !toolhostProcess) throw new Error('a service is missing');

  let hands = 0;
  const world: World = {
    stack,
    vitalsDirectory,
    watch: new Watch(vitalsDirectory, [api, toolhostProcess]),
    async mend(project) {
      const found = await stack.api('GET', `/projects/${project}`);
      if (found.status === 404) await post('/projects', { file: projectFile(project) });
      const { status } =
        found.status === 404 ? { status: 'initialized' } : (found.body as { project: { status: string } }).project;
      if (status === 'initialized' || status === 'stopped') await post(`/projects/${project}/start`);
      if (status === 'submitted' || status === 'completed') {
        await post(`/projects/${project}/request-changes`, { recipient: 'cat', body: 'Go on.' });
      }
    },
    async begin(project) {
      hands += 1;
      const agent = `hand-${String(hands)}`;
      await world.mend(project);
      await post(`/projects/${project}/messages`, { recipient: agent, body: 'Begin.' });
      let queued: string | undefined;
      await eventually(`a turn of ${agent} is queued`, async () => {
        const { body } = await stack.api('GET', `/projects/${project}/turns?agent=${agent}`);
        const last = (body as { items: { id: string; status: string }[] }).items.at(-1);
        queued = last?.status === 'queued' ? last.id : undefined;
        return queued !== undefined;
      });
      const response = await fetch(`${toolhost.worker}/projects/${project}/turns/${queued ?? ''}/claim`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.workerToken()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ claimId: randomBytes(16).toString('hex'), worker: 'w', engine: 'fuzz', protocol: 2 }),
      });
      if (response.status !== 200) throw new Error(`the claim was refused: ${await response.text()}`);
      return (await response.json()) as ClaimAnswer;
    },
    async isRunning(project, turn) {
      const { body } = await stack.api('GET', `/projects/${project}/turns/${turn}`);
      return (body as { status?: string }).status === 'running';
    },
    forgive(project) {
      const sql = Sql.open(join(stack.root, 'projects', project, 'project.db'));
      for (const count of ['contradictions', 'refused_calls'])
        sql.run(`CREATE TRIGGER forgive_${count} AFTER UPDATE OF ${count} ON turn_attempts WHEN NEW.${count} > 0 BEGIN
          UPDATE turn_attempts SET ${count} = 0 WHERE turn_id = NEW.turn_id AND number = NEW.number;
        END`);
      sql.close();
    },
    judge() {
      for (const service of [...stack.services.api, ...stack.services.toolhost, ...stack.services.scheduler]) {
        if (!service.running) throw new Error(`${service.name} has ended:\n${stack.logs().slice(-3_000)}`);
      }
      const failed = stack
        .logs()
        .split('\n')
        .filter((line) => /"level":"(?:error|fatal)"|Error:|Warning:/.test(line));
      if (failed.length > 0) throw new Error(`a service wrote:\n${failed.slice(0, 5).join('\n')}`);
    },
    async close() {
      await stack.stop();
      await rm(vitalsDirectory, { recursive: true, force: true });
    },
  };
  return world;
}
