import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liveMessage } from '../shared/contract/src/operations/turns.js';
import { type EventStream, openStream } from '../services/api/test/support/sse-client.js';
import { eventually } from './support/poll.js';
import { openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const megabyte = 1024 * 1024;
/** What is read from a pipe is garbage soon, of which Node collects some dozens of megabytes at a time. */
const printed = 200 * megabyte;
const quiet = Array.from({ length: 9 }, (_none, index) => `quiet-${String(index + 1)}`);

let stack: Stack;
let stop: string;
beforeAll(async () => {
  stack = await startStack({ toolhosts: 2, workers: 2, slots: 5, backends: ['process'] });
  stop = join(stack.root, 'stop-printing');
});
afterAll(() => stack.stop());

/** They print a line now and then, the loud one a lot in between, until the file is there or five minutes are over. */
const team = () => `
name: builders
task: Build.
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: loud
        steps: [{ run: { command: '${untilStopped('echo ready')}; yes "a line of a build" | head -c ${String(printed)}; echo "the end"; ${untilStopped('echo over', '.all')}' } }]
${quiet
  .map(
    (agent) =>
      `      - { agent: ${agent}, steps: [{ run: { command: '${untilStopped(`echo "${agent} prints"`, '.all')}' } }] }`,
  )
  .join('\n')}
agents:
  loud: { role: builder, prompt: Build., tools: [] }
${quiet.map((agent) => `  ${agent}: { role: builder, prompt: Build., tools: [] }`).join('\n')}
`;

const untilStopped = (command: string, more = '') =>
  `i=0; while [ ! -e ${stop}${more} ] && [ $i -lt 1500 ]; do ${command}; i=$((i+1)); sleep 0.2; done`;

/** The most memory that a process has taken so far. */
function mostBytes(pid: number | undefined): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

const follow = (agent: string): Promise<EventStream> =>
  openStream(`${stack.url}/api/projects/builders/turns/${agent}:1/live`, {
    authorization: `Bearer ${stack.adminToken()}`,
  });

/** Reads a stream until `isIt` says so, or the stream ends. */
async function until(stream: EventStream, isIt: (text: string) => boolean): Promise<string> {
  let all = '';
  for (let next = await stream.next(); next; next = await stream.next()) {
    const message = liveMessage.parse({ event: next.type, data: next.data });
    if (message.event === 'end') all += '<end>';
    else all += message.data.kind === 'gap' ? `<gap ${String(message.data.bytes)}>` : message.data.text;
    if (isIt(all)) return all;
  }
  return all;
}

test('ten turns at once, one of which prints 200 MB, are followed within bounds, at two ToolHosts', async () => {
  expect(await stack.api('POST', '/projects', { file: team(), start: true })).toMatchObject({ status: 201 });
  for (const recipient of ['loud', ...quiet]) {
    const sent = await stack.api('POST', '/projects/builders/messages', { recipient, priority: 'P1', body: 'Go.' });
    expect(sent).toMatchObject({ status: 201 });
  }
  const project = openProject(stack.root, 'builders');
  const count = (status: string) =>
    project.get<{ n: number }>(`SELECT count(*) AS n FROM turns WHERE status = '${status}'`)?.n ?? 0;
  await eventually('all run', () => count('running') === 10, { show: () => stack.logs().slice(-2_000) });

  const lazy = await follow('loud');
  const keen = await follow('loud');
  const others = await Promise.all(quiet.map(follow));
  const said = await Promise.all(others.map((stream) => until(stream, (text) => text.includes('prints\n'))));
  expect(said.map((text, index) => text.includes(`${quiet[index] ?? ''} prints\n`))).toEqual(quiet.map(() => true));
  await until(keen, (text) => text.includes('ready\n'));

  const services = [...stack.services.toolhost, ...stack.services.api, ...stack.services['turn-worker']];
  const before = services.map(({ pid }) => mostBytes(pid));
  await writeFile(stop, '');
  const loud = await until(keen, (text) => text.includes('over\n'));
  expect(loud).toMatch(/<gap \d{4,}>/);
  expect(loud.length).toBeLessThan(50 * megabyte);
  const grown = services.map(({ name, pid }, index) => ({
    name,
    isBounded: mostBytes(pid) - (before[index] ?? 0) < 0.75 * printed,
  }));
  expect(grown).toEqual(services.map(({ name }) => ({ name, isBounded: true })));

  await writeFile(`${stop}.all`, '');
  const ends = await Promise.all(
    [keen, lazy, ...others].map((stream) => until(stream, (text) => text.endsWith('<end>'))),
  );
  expect(ends.map((text) => text.endsWith('<end>'))).toEqual(ends.map(() => true));
  await eventually('all are done', () => count('completed') === 10);
  expect(project.all(`SELECT 1 FROM events WHERE data_json LIKE '%a line of a build%'`)).toEqual([]);
  project.close();
});
