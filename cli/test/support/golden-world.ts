import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { broadcast } from '@suzumio/store/mail/broadcast';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { recordToolCall } from '@suzumio/store/turns/record-tool-call';
import { replyToMessage } from '@suzumio/store/mail/reply-to-message';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { hashToken } from '@suzumio/store/turns/tokens';
import { type TestApi, testApi } from '../../../services/api/test/support/api.js';
import { beginTurn, leaveFiles, publish, submit } from '../../../services/api/test/support/play.js';

/** A data directory with projects in several states, served by an API with a clock that stands still between steps. */
export interface GoldenWorld {
  readonly api: TestApi;
  /** Where commands run: files that they read and write. */
  readonly directory: string;
  /** A project of its own in some state. */
  project(name: string, state: State): Promise<void>;
  close(): Promise<void>;
}

export type State =
  | 'initialized'
  | 'talking'
  | 'running'
  | 'submitted'
  | 'failed'
  | 'busy'
  | 'drafting'
  | 'stopped agent'
  | 'cancelled';

/** The file of a project. */
export const worldYaml = (name: string, team = '') => `
name: ${name}
task: Write a bulletin on the river level.
channels: ["#news"]
backend: { runner: { mode: mock } }
agents:
  editor: { role: editor, displayName: Yuki, prompt: Assign and merge., tools: ["*"] }
  reporter: { role: reporter, ${team}count: 2, names: [Akari, Ren], prompt: Summarise., tools: [messages.send, artifacts.publish] }
  checker: { role: fact checker, displayName: Mio, prompt: Compare., tools: [messages.send] }
`;

const begin = Date.UTC(2026, 10, 21, 20, 14, 0);

export async function goldenWorld(): Promise<GoldenWorld> {
  const api = await testApi();
  const { root } = api;
  const directory = join(root, '..', `${root.split('/').at(-1) ?? ''}-files`);
  await mkdir(directory);
  await writeFile(join(root, 'server.json'), JSON.stringify({ url: api.url, pid: process.pid }));
  let nowMs = begin;
  const after = (ms: number) => api.setNow((nowMs += ms));

  async function fail(project: string, agent: string): Promise<void> {
    const { turn, attempt } = await beginTurn(api, project, agent);
    const log = 'Comparing north.csv\nError: \u001b[31mno such figure\u001b[0m\n';
    await writeTurnLog(api.cell.directory.projectDir(project), { turn_id: turn, number: attempt }, Buffer.from(log));
    after(1_500);
    const failure = { code: 'non-zero-exit' as const, message: 'The runner ended with exit code 3.' };
    await api.write(project, (tx) => failAttempt(tx, { turn, attempt }, { failure }));
  }

  const states: Record<State, (project: string) => Promise<unknown>> = {
    initialized: () => Promise.resolve(),
    running: () => Promise.resolve(),
    async submitted(project) {
      await publish(api, project, 'reporter-1', {
        name: 'north-summary.md',
        content: Buffer.from('# North\n\n212 cm\n'),
      });
      after(2_000);
      await fail(project, 'checker');
      await submit(api, project, 'editor', '# River level\n\nThe north gauge stands at 212 cm.\n');
    },
    failed: (project) => fail(project, 'checker'),
    async busy(project) {
      await beginTurn(api, project, 'editor');
      await api.write(project, (tx) => {
        postMessage(tx, {
          sender: 'user',
          recipient: 'reporter-1',
          priority: 'P0',
          body: 'The north gauge, please.',
          actor: 'admin',
        });
        startTurns(tx);
      });
      await fail(project, 'checker');
      await api.write(project, (tx) => {
        tx.run(`UPDATE agents SET state = 'stopped' WHERE id = 'reporter-2'`);
        postMessage(tx, {
          sender: 'user',
          channel: '#news',
          priority: 'P2',
          body: 'Please keep it\nshort.',
          actor: 'admin',
        });
      });
    },
    async drafting(project) {
      const notes = 'The north gauge:\n212 cm\n';
      await leaveFiles(api, project, 'editor', {
        'draft.md': '# River\n\nTBD\n',
        'notes/north.md': notes,
        todo: 'All.\n',
      });
      after(2_000);
      await leaveFiles(api, project, 'editor', {
        'draft.md': '# River level\n\nIt stands at 212 cm.\n',
        'notes/north.md': notes,
        'plot.png': Buffer.from([137, 80, 78, 71, 0]),
        publish: { run: 'cp draft.md bulletin.md\n' },
      });
    },
    async talking(project) {
      const from = (agent: string) => ({ sender: agent, actor: agent, priority: 'P1' as const });
      const north = await api.write(project, (tx) => {
        assignTask(tx, { ...from('editor'), role: 'fact checker', body: 'Compare every figure.' });
        broadcast(tx, { ...from('editor'), team: 'desk', body: 'We begin.' });
        return assignTask(tx, { ...from('editor'), role: 'reporter', body: 'The north gauge, please.' });
      });
      const { turn } = await beginTurn(api, project, north.assignee);
      const answer = { ...from(north.assignee), message: north.id, turn, task: 'done' as const };
      await api.write(project, (tx) => replyToMessage(tx, { ...answer, body: 'It stands at 212 cm.' }));
    },
    'stopped agent': (project) =>
      api.write(project, (tx) => tx.run(`UPDATE agents SET state = 'stopped' WHERE id = 'checker'`)),
    async cancelled(project) {
      const { turn, attempt } = await beginTurn(api, project, 'checker');
      const call = {
        agent: 'checker',
        turn,
        attempt,
        step: '0',
        tool: 'messages.send',
        input: keptInput({}),
        requestHash: 'h',
      };
      await api.write(project, (tx) =>
        recordToolCall(tx, { ...call, tokenHash: hashToken('tool') }, () => ({ output: 'Sent.' })),
      );
      await api.write(project, (tx) => cancelActiveTurn(tx, turn, 'admin'));
    },
  };

  return {
    api,
    directory,
    async project(name, state) {
      api.setNow((nowMs = begin));
      await api.create(worldYaml(name, state === 'talking' ? 'team: desk, ' : ''), { start: state !== 'initialized' });
      after(2_000);
      await states[state](name);
      after(29_000);
    },
    async close() {
      await api.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
