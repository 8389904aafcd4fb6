import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type WhyAnswer, whyAnswer, type WhyCode } from '@suzumio/contract/model/why';
import { eventually } from './support/poll.js';
import { count } from './support/outcomes.js';
import { openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const projects = {
  // One of them keeps the only slot for as long as it is let.
  crowd: `
task: Wait for each other.
backend: { kind: process, runner: { mode: mock, script: [{ agent: first, steps: [{ hang: true }] }] } }
agents:
  first: { role: waiter, prompt: Hang. }
  second: { role: waiter, prompt: Wait. }
  third: { role: waiter, prompt: Wait. }
`,
  pictures: `
task: Run where nobody can.
backend: { image: "suzumio-no-such-image:dev", runner: { mode: mock } }
agents:
  painter: { role: painter, prompt: Paint. }
`,
  circle: `
task: Thank each other.
protection: { exchanges: 4 }
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: ada
        steps: [{ tool: messages.send, input: { recipient: ben, body: "Thank you for that, Ben." } }]
      - agent: ben
        steps: [{ tool: messages.send, input: { recipient: ada, body: "No, thank you, dear Ada!" } }]
agents:
  ada: { role: friend, prompt: Thank., tools: [messages.send] }
  ben: { role: friend, prompt: Thank., tools: [messages.send] }
`,
  desk: `
task: Know what goes on.
backend: { kind: process, runner: { mode: mock, script: [{ agent: clerk, steps: [{ fail: { exit: 3 } }] }] } }
agents:
  clerk: { role: clerk, prompt: Fail. }
  lead: { role: lead, prompt: See to it., notices: [started, errored] }
  other: { role: lead, prompt: See to it., notices: [finished, started, errored] }
`,
} as const;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ backends: ['docker', 'process'], slots: 1 });
});
afterAll(() => stack.stop());

async function create(name: keyof typeof projects): Promise<void> {
  const created = await stack.api('POST', '/projects', { file: `name: ${name}${projects[name]}`, start: true });
  expect(created).toMatchObject({ status: 201 });
}

async function mail(project: string, recipient: string): Promise<void> {
  const sent = await stack.api('POST', `/projects/${project}/messages`, { recipient, body: 'Begin, please.' });
  expect(sent.status).toBe(201);
}

async function why(project: string, agent: string): Promise<WhyAnswer> {
  return whyAnswer.parse((await stack.api('GET', `/projects/${project}/agents/${agent}/why`)).body);
}

/** Waits until the first reason is this one, and returns its sentence. */
async function becauseOf(project: string, agent: string, code: WhyCode): Promise<string> {
  let last: WhyAnswer | undefined;
  await eventually(
    `${agent} is at ${code}`,
    async () => {
      last = await why(project, agent);
      return last.reasons[0]?.code === code;
    },
    { show: () => last },
  );
  return last?.reasons[0]?.sentence ?? '';
}

test('two agents that thank each other for every thank-you are stopped, and everybody can see why', async () => {
  await create('circle');
  await mail('circle', 'ada');
  const sentence = await becauseOf('circle', 'ada', 'protection');
  expect(sentence).toMatch(/have answered each other in 4 turns each within an hour.*\(protection\.exchanges\)/);
  await becauseOf('circle', 'ben', 'protection');
  const database = openProject(stack.root, 'circle');
  try {
    await eventually('no turn runs', () => count(database, `turns WHERE status IN ('queued', 'running')`) === 0);
    // The person's message, four and four, and at most one that was on its way.
    expect(count(database, 'messages')).toBeLessThanOrEqual(10);
    expect(count(database, `events WHERE type = 'agent.paused' AND actor = 'system'`)).toBe(2);
  } finally {
    database.close();
  }
});

test('who subscribes is told of a turn, and notices do not go round', async () => {
  await create('desk');
  await mail('desk', 'clerk');
  const database = openProject(stack.root, 'desk');
  try {
    await eventually(
      'all is said and read',
      () =>
        count(database, `messages WHERE kind = 'event' AND sender = 'system'`) === 4 &&
        count(database, 'inbox') === 0 &&
        count(database, `turns WHERE status IN ('queued', 'running')`) === 0,
    );
    const told = database.all<{ body: string }>(`SELECT body FROM messages WHERE recipient = 'lead' ORDER BY seq`);
    expect(told.map(({ body }) => body)).toEqual([
      'clerk started turn 1 (clerk:1).',
      expect.stringMatching(/^clerk errored in turn 1 \(clerk:1\), attempt 1: non-zero-exit: /),
    ]);
  } finally {
    database.close();
  }
});

test('a turn that waits for a worker says for which, and behind whom', async () => {
  await create('crowd');
  await mail('crowd', 'first');
  expect(await becauseOf('crowd', 'first', 'working')).toMatch(/^It works: turn 1 runs on /);
  await mail('crowd', 'second');
  expect(await becauseOf('crowd', 'second', 'waiting-for-slot')).toBe(
    'Turn 1 is the next to get a slot; 1 worker runs 1 at a time.',
  );
  await mail('crowd', 'third');
  expect(await becauseOf('crowd', 'third', 'queued-behind')).toMatch(/^Turn 1 is queued behind 1 turn/);

  await create('pictures');
  await mail('pictures', 'painter');
  expect(await becauseOf('pictures', 'painter', 'image-missing')).toBe(
    '1 worker is connected, but none has the image suzumio-no-such-image:dev: pull or build it there.',
  );
});

test('services that go are missed', async () => {
  const [worker] = stack.services['turn-worker'];
  const stopped = worker?.stop();
  expect(await becauseOf('crowd', 'second', 'workers-draining')).toMatch(/draining/);
  await stopped;
  expect(await becauseOf('crowd', 'second', 'worker-missing')).toBe('No worker is connected: turns wait for one.');
  const [scheduler] = stack.services.scheduler;
  await scheduler?.kill();
  expect(await becauseOf('crowd', 'second', 'scheduler-missing')).toMatch(
    /^No scheduler runs; the last was heard of at .*: nobody starts turns for mail\.$/,
  );
});
