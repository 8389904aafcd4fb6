import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { projectEvent } from '@suzumio/contract/model/event';
import { inboxItem } from '@suzumio/contract/model/inbox';
import { agentAnswer, resetAgentAnswer, retryAnswer } from '@suzumio/contract/operations/agents';
import { postedMessage, postedReply, redeliveredMessage } from '@suzumio/contract/operations/messages';
import {
  projectAnswer,
  projectDetailAnswer,
  requestChangesAnswer,
  tickAnswer,
} from '@suzumio/contract/operations/projects';
import { assignedTask } from '@suzumio/contract/operations/tasks';
import { cancelAnswer } from '@suzumio/contract/operations/turns';
import { sessionView } from '@suzumio/contract/model/session';
import { signInLinkAnswer } from '@suzumio/contract/operations/sign-in';
import { actView } from '@suzumio/contract/model/acts';
import { whyAnswer } from '@suzumio/contract/model/why';
import { workerView } from '@suzumio/contract/operations/service';
import { agentView } from '@suzumio/contract/model/agent';
import { artifactView } from '@suzumio/contract/model/artifact';
import { conversationEntry } from '@suzumio/contract/model/conversation';
import { messageDetail, messageView } from '@suzumio/contract/model/message';
import { taskView } from '@suzumio/contract/model/task';
import { threadView } from '@suzumio/contract/model/thread';
import { toolCallView } from '@suzumio/contract/model/tool-call';
import { turnDetail, turnView } from '@suzumio/contract/model/turn';
import { problem } from '@suzumio/protocol/problem';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';
import { type GoldenWorld, goldenWorld } from './support/golden-world.js';

let world: GoldenWorld;
let cli: CliWorld;
/** The processes of the server that are no part of the world. */
const leaving: (() => Promise<void>)[] = [];
beforeAll(async () => {
  world = await goldenWorld();
  cli = await createCliWorld({ policy: anyBackend });
  cli.setEnvironment({ SUZUMIO_ROOT: world.api.root });
  await world.project('newsroom', 'submitted');
  await world.project('busy', 'busy');
  for (const service of ['api', 'scheduler', 'toolhost']) {
    const { cell, transport } = world.api;
    leaving.push(await cell.catalog.processes.enlist({ service, cell: cell.id, transport: transport.kind }));
  }
  jest.spyOn(world.api.transport, 'fleet').mockResolvedValue([{ worker: 'worker-1', slots: 2, state: 'ready' }]);
});
afterAll(async () => {
  for (const leave of leaving) await leave();
  await cli.remove();
  await world.close();
});

const finding = z.strictObject({
  what: z.string(),
  state: z.enum(['ok', 'broken', 'skipped']),
  detail: z.string(),
  remedy: z.string().optional(),
});
const verdict = z.strictObject({
  project: z.string(),
  contents: z.int(),
  contentBytes: z.int(),
  flaws: z.array(z.strictObject({ what: z.string(), detail: z.string() })),
});

const shapes: readonly (readonly [line: string, shape: z.ZodType])[] = [
  ['status', z.array(projectDetailAnswer)],
  ['status newsroom', projectDetailAnswer],
  ['messages busy', z.array(messageView)],
  ['messages show busy 3', messageDetail],
  ['threads busy', z.array(threadView)],
  ['thread busy 3', z.array(messageView)],
  ['assign newsroom reporter North', assignedTask],
  ['tasks newsroom', z.array(taskView)],
  ['reply newsroom 1 --to editor Thanks', postedReply],
  ['broadcast newsroom Thanks', postedMessage],
  ['redeliver newsroom 2 --yes', redeliveredMessage],
  ['inbox busy', z.array(messageView)],
  ['inbox busy checker --undelivered', z.array(messageView)],
  ['inbox --mine', z.array(inboxItem)],
  ['agents busy', z.array(agentView)],
  ['why busy checker', whyAnswer],
  ['why busy', z.array(whyAnswer)],
  ['workers', z.tuple([workerView])],
  ['turns newsroom', z.array(turnView)],
  ['turns show newsroom editor:1', turnDetail],
  ['turns show newsroom editor:1 --conversation', z.array(conversationEntry)],
  ['tool-calls newsroom', z.array(toolCallView)],
  ['artifacts newsroom', z.array(artifactView)],
  ['events newsroom', z.array(projectEvent)],
  ['report newsroom', z.strictObject({ project: z.string(), version: z.int(), text: z.string() })],
  [
    'logs newsroom checker',
    z.strictObject({ turn: z.string(), agent: z.string(), number: z.int(), attempt: z.int(), log: z.string() }),
  ],
  ['verify newsroom', z.strictObject({ projects: z.array(verdict), catalog: z.array(z.unknown()) })],
  ['doctor --port 0', z.array(finding)],
  ['open newsroom --print', signInLinkAnswer],
  ['sessions list', z.array(sessionView)],
  ['audit', z.array(actView)],
  ['agents stop busy editor', agentAnswer],
  ['agents start busy editor', agentAnswer],
  ['agents retry busy checker', retryAnswer],
  ['cancel busy editor:1', cancelAnswer],
  ['agents reset busy editor --redeliver --yes', resetAgentAnswer],
  ['retry busy --failed', z.array(retryAnswer.extend({ agent: z.string() }))],
  ['tick busy', z.array(tickAnswer)],
  ['tick', z.array(tickAnswer)],
  ['send busy editor P1 Hello', postedMessage],
  ['request-changes newsroom editor More', requestChangesAnswer],
  ['stop busy', projectAnswer],
  ['start busy', projectAnswer],
];

describe('with --json', () => {
  test.each(shapes)('%s prints one value of the shape that is documented, and nothing else', async (line, shape) => {
    const { code, out, err } = await cli.run(...line.split(' '), '--json');
    expect({ line, code, err }).toEqual({ line, code: 0, err: '' });
    const printed: unknown = JSON.parse(out);
    // No field that the shape lacks: it would have been dropped.
    expect(shape.parse(printed)).toEqual(printed);
  });

  test.each(['status nothing', 'agents stop busy nobody', 'cancel busy editor:99'])(
    'a refusal is a problem document: %s',
    async (line) => {
      const { code, out, err } = await cli.run(...line.split(' '), '--json');
      expect([code, out]).toEqual([3, '']);
      expect(problem.parse(JSON.parse(err)).status).toBe(404);
    },
  );

  test.each([
    ['send busy --json', "missing required argument 'recipient'"],
    ['--json staus', "unknown command 'staus' (Did you mean status?)"],
    ['tokens create ci --scope bogus --json', expect.stringContaining("argument 'bogus' is invalid")],
    ['messages busy --limit none --json', expect.stringContaining("'--limit <n>' argument 'none' is invalid")],
    ['pause --json', expect.stringContaining('Name a project')],
    ['delete busy --json', 'Nobody is there to be asked; nothing was changed.'],
    ['tokens --json', 'No command is named.'],
  ])('what is written wrongly is a problem document, too: %s', async (line, detail) => {
    const { code, out, err } = await cli.run(...line.split(' '));
    expect([code, out]).toEqual([2, '']);
    expect(problem.parse(JSON.parse(err))).toMatchObject({ code: 'invalid-request', status: 400, detail });
  });

  test('a word that is no option asks for nothing', async () => {
    const { code, err } = await cli.run('send', 'busy', '--', '--json');
    expect([code, err]).toEqual([2, expect.stringMatching(/^error: missing required argument/)]);
  });

  test('logs that are not there yet are null, and of what is not there a refusal', async () => {
    const running = await cli.run('logs', 'busy', 'reporter-1', '--json');
    expect(JSON.parse(running.out)).toMatchObject({ agent: 'reporter-1', number: 1, log: null });
    for (const [line, detail] of [
      ['logs newsroom reporter-2', 'reporter-2 has had no turn yet.'],
      ['logs newsroom checker --attempt 7', 'checker:1 has had no attempt 7: its newest is 1.'],
    ] as const) {
      const { code, out, err } = await cli.run(...line.split(' '), '--json');
      expect([code, out]).toEqual([3, '']);
      expect(JSON.parse(err)).toMatchObject({ code: 'turn-unknown', detail });
    }
  });
});
