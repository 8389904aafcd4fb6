import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AgentView } from '../shared/contract/src/model/agent.js';
import type { ArtifactView } from '../shared/contract/src/model/artifact.js';
import type { TurnDetail } from '../shared/contract/src/model/turn.js';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

/** A writer that publishes a directory and sends it on; an editor whose first attempt dies with it in its workspace. */
const siteProject = (name: string) => `
name: ${name}
task: Publish a site and hand it in.
backend:
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - agent: writer
        steps:
          - write: { path: site/index.md, text: "Level 3.2 m" }
          - run: { command: "mkdir -p site/bin bad && printf 'echo ran' > site/bin/run && chmod +x site/bin/run && ln -sf /etc/passwd bad/x" }
          - { tool: artifacts.publish, input: { path: bad }, expectError: content-missing }
          - { tool: artifacts.publish, input: { path: site/, description: The site } }
          - { tool: messages.send, input: { recipient: editor, body: Please check., attachments: [site] } }
          - text: "{{steps.2.output.detail}}"
      - agent: editor
        when: { attempt: 1 }
        steps:
          - { tool: artifacts.read, input: { name: site, to: in/site } }
          - run: { command: "cat in/site/index.md && touch in/site/of-the-first-attempt" }
          - fail: { exit: 3 }
      - agent: editor
        steps:
          - { tool: artifacts.read, input: { name: site, to: in/site } }
          - run: { command: "cd in/site && find . -type f | sort && cat index.md && echo && bin/run" }
          - { tool: artifacts.read, input: { name: site, to: /etc/site }, expectError: artifact-path-invalid }
          - run: { command: "ln -s /tmp away" }
          - { tool: artifacts.read, input: { name: site, to: away/site }, expectError: workspace-write-failed }
          - run: { command: "ls -A /tmp" }
          - text: "{{steps.0.output}}|{{steps.1.output}}|{{steps.5.output}}"
agents:
  writer: { role: writer, prompt: Write., tools: [messages.send, artifacts.publish] }
  editor: { role: editor, prompt: Check., tools: [artifacts.read] }
`;

const copyProject = (name: string, image: string) => `
name: ${name}
task: Copy.
backend: { image: ${image}, docker: { keep: never }, runner: { mode: mock } }
agents:
  copier: { role: copier, prompt: Copy., tools: ["artifacts.*"] }
`;

describe.each(['socket', 'stdio'] as const)('artifacts and workspaces in containers, through the %s door', (door) => {
  let stack: Stack;
  const image = `suzumio-e2e-copying:${door}`;

  beforeAll(async () => {
    const context = fileURLToPath(new URL('fixtures/copying-runner', import.meta.url));
    await docker('build', '--quiet', '--tag', image, context);
    stack = await startStack({ door });
  });
  afterAll(async () => {
    await stack.stop();
    await docker('image', 'rm', '--force', image);
    expect(await docker('ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`)).toBe('');
  });

  async function api<Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Body> {
    const answer = await stack.api(method, path, body);
    if (answer.status >= 300) throw new Error(`${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
    return answer.body as Body;
  }
  const stateOf = async (project: string, agent: string) => {
    const { items } = await api<{ items: AgentView[] }>('GET', `/projects/${project}/agents`);
    return items.find(({ id }) => id === agent)?.state;
  };
  const turn = (project: string, name: string) => api<TurnDetail>('GET', `/projects/${project}/turns/${name}`);
  const send = (project: string, recipient: string, attachments: string[] = []) =>
    api('POST', `/projects/${project}/messages`, { recipient, body: 'Begin.', attachments });
  const ended = (project: string, agent: string, state: AgentView['state']) =>
    eventually(`${agent} is ${state}`, async () => (await stateOf(project, agent)) === state);

  const completed = (project: string, name: string) =>
    eventually(`${name} is completed`, async () => {
      const { status, body } = await stack.api('GET', `/projects/${project}/turns/${name}`);
      return status === 200 && (body as TurnDetail).status === 'completed';
    });

  test('a directory goes from one workspace to another, and is written again by an attempt that begins anew', async () => {
    const project = `site-${door}`;
    await api('POST', '/projects', { file: siteProject(project), start: true });
    await send(project, 'writer');
    await ended(project, 'editor', 'failed');
    expect((await turn(project, 'writer:1')).text).toContain('("bad": "x" is a link;');
    const { prompt } = await turn(project, 'editor:1');
    expect(prompt).toMatch(
      /^\| Please check\.\n\[attached art_\w{26}, directory of 2 files, 19 bytes: site\]\n\[end msg_/m,
    );

    // What is published under the name since is not what the turn has begun with.
    await send(project, 'writer');
    await eventually('it is published again', async () => {
      const { items } = await api<{ items: ArtifactView[] }>('GET', `/projects/${project}/artifacts?name=site`);
      return items.length === 2;
    });
    const { items } = await api<{ items: ArtifactView[] }>('GET', `/projects/${project}/artifacts?name=site`);
    await api('POST', `/projects/${project}/agents/editor/retry`, {});
    await completed(project, 'editor:1');

    const done = await turn(project, 'editor:1');
    const [wrote, found, outside] = (done.text ?? '').split('|');
    expect(done.attempt).toBe(2);
    expect(wrote).toBe(`Wrote site (${String(items[0]?.id)}), 2 files, 19 bytes, to in/site.`);
    expect(found).toBe('./bin/run\n./index.md\nLevel 3.2 m\nran');
    expect(outside).toBe('');
    const reads = done.calls.filter(({ step }) => step === '0.0');
    expect(reads.map(({ status }) => status)).toEqual(['succeeded']);
    expectSound(project);
  });

  test('a foreign runner has the shim write and publish directories, inside its workspace only', async () => {
    const project = `copy-${door}`;
    await api('POST', '/projects', { file: copyProject(project, image), start: true });
    await send(project, 'copier');
    await completed(project, 'copier:1');
    expect(JSON.parse((await turn(project, 'copier:1')).text ?? '')).toEqual({
      published: expect.stringMatching(/^site \(art_/),
      written: expect.stringMatching(/^Wrote site \(art_\w+\), 1 file, 9 bytes, to copy\.$/),
      above: 'artifact-path-invalid',
      away: 'workspace-write-failed',
      again: expect.stringMatching(/^copy \(art_/),
      linked: 'content-missing',
    });
    const { items } = await api<{ items: ArtifactView[] }>('GET', `/projects/${project}/artifacts`);
    expect(items.map(({ name, kind, files }) => [name, kind, files])).toEqual([
      ['site', 'directory', 1],
      ['copy', 'directory', 1],
    ]);
    expect(items[1]?.sha256).toBe(items[0]?.sha256);
    expectSound(project);
  });

  function expectSound(project: string): void {
    const database = openProject(stack.root, project);
    try {
      expect(brokenInvariants(database)).toEqual([]);
    } finally {
      database.close();
    }
  }
});
