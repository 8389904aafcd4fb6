import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { createTurnWorker, type TurnWorker } from '@suzumio/turn-worker';
import { type ToolhostBench, toolhostBench } from '../services/toolhost/test/toolhost-client.js';
import { recordingLogger } from './support/logs.js';
import { eventually } from './support/poll.js';

// A worker whose report of a turn is answered later than it waits: the ToolHost has recorded the report all the same.

const bundles = fileURLToPath(new URL('../runner/dist/', import.meta.url));
const policy = { ...defaultPolicy, backends: ['process' as const] };
const patienceMs = 300;

const yaml = `
name: late
task: Report.
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: dev
        steps:
          - tool: messages.send
            input: { recipient: boss, body: Done. }
          - run: { command: "echo left >> $SUZUMIO_ARTIFACTS_DIR/dev/left.md" }
          - text: Fine.
agents:
  dev: { tools: ["*"] }
  boss: { tools: [] }
`;

let bench: ToolhostBench;
let front: Server;
/** How many of the next answers to reports come too late. */
let late: number;
/** The answers to reports, in their order, those that nobody waited for among them. */
let answers: string[];
let directory: string;
let worker: TurnWorker | undefined;
let lines: () => Record<string, unknown>[];
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-late-'));
  bench = await toolhostBench({ policy });
  answers = [];
  late = 1;
  front = createServer((request, response) => {
    (async () => {
      const body = await buffer(request);
      const { method = 'GET', url = '/', headers } = request;
      const passed = httpRequest(new URL(url, bench.toolhost.workerUrl), { method, headers }).end(body);
      const [answer] = (await once(passed, 'response')) as [typeof request & { statusCode: number }];
      const said = await buffer(answer);
      if (url.endsWith('/complete')) {
        answers.push(`${String(answer.statusCode)} ${said.toString()}`);
        late -= 1;
        // Nothing more is said on it.
        if (late >= 0) return;
      }
      response.writeHead(answer.statusCode, answer.headers).end(said);
    })().catch(() => response.destroy());
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  await worker?.stop();
  front.closeAllConnections();
  await new Promise((resolve) => front.close(resolve));
  await bench.close();
  rmSync(directory, { recursive: true, force: true });
});

async function startWorker(heartbeatMs: number): Promise<void> {
  const recording = recordingLogger();
  lines = recording.lines;
  const { cell } = bench.testing;
  worker = createTurnWorker(
    {
      workerDir: join(directory, 'w'),
      slots: 1,
      policy,
      runnerBundle: join(bundles, 'bundle/runner.mjs'),
      shimFile: join(bundles, 'shim.mjs'),
      cells: {
        [cell.id]: {
          toolhostUrl: `http://127.0.0.1:${String((front.address() as AddressInfo).port)}`,
          runnerUrl: bench.toolhost.runnerUrl,
          credential: cell.directory.workerToken(),
        },
      },
      limits: { callMs: patienceMs, heartbeatMs },
    },
    { transport: bench.transport, logger: recording.logger },
  );
  await worker.start();
}

async function give(): Promise<string> {
  const turn = await bench.queueTurn('late', 'dev');
  const { cell } = bench.testing;
  await bench.transport.addTurnJob({ cell: cell.id, project: 'late', epoch: 1, turn, delivery: 1, priority: 'P1' });
  return turn;
}

const ended = () => lines().filter(({ msg }) => msg === 'an attempt has ended');
const rows = (sql: string) => bench.testing.rows('late', sql);

async function expectOnce(turn: string): Promise<void> {
  expect(await rows(`SELECT number, status FROM turn_attempts WHERE turn_id = '${turn}'`)).toEqual([
    { number: 1, status: 'completed' },
  ]);
  expect(await rows(`SELECT body FROM messages WHERE sender = 'dev'`)).toHaveLength(1);
  expect(await rows(`SELECT name FROM artifacts`)).toHaveLength(1);
  expect(await rows(`SELECT 1 FROM events WHERE type = 'turn.completed'`)).toHaveLength(1);
}

test.each([
  ['is sent again, and gets the recorded answer', 60_000, 2],
  ['is not sent again once a heartbeat says that the attempt is over', 50, 1],
])('a report whose answer comes too late %s', async (_what, heartbeatMs, times) => {
  await bench.testing.create(yaml);
  await startWorker(heartbeatMs);
  const turn = await give();
  await eventually('it has ended', () => ended().length === 1, { show: () => ({ answers, lines: lines() }) });
  expect(answers).toEqual(Array.from({ length: times }, () => '200 {"turn":"completed"}'));
  await expectOnce(turn);
  expect(lines().filter(({ msg }) => String(msg).includes('rejected'))).toEqual([]);
  // Its slot is free.
  late = 0;
  await give();
  await eventually('another one has ended', () => ended().length === 2, { show: lines });
});
