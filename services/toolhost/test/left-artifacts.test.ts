import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { ContentStore } from '@suzumio/store/content/content-store';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import { storeTree, type Tree } from '../../../test/support/trees.js';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Write.
tools: { toolpacks: [files] }
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: ["file.*", artifacts.publish] }
  ben: { role: reader, prompt: Read., tools: ["file.*", artifacts.read] }
`;

const project = 'lab';
let bench: ToolhostBench;
let content: ContentStore;
beforeEach(async () => {
  bench = await toolhostBench();
  await bench.testing.create(yaml);
  content = new ContentStore(bench.testing.cell.directory.projectDir(project));
});
afterEach(() => bench.close());

const own = (files: Tree): Tree =>
  Object.fromEntries(Object.entries(files).map(([path, what]) => [`.suzumio-artifacts/${path}`, what]));

async function complete({ report }: Pick<Begun, 'report'>, tree: Tree): Promise<void> {
  const snapshot = await storeTree(content, tree);
  expect(await report('complete', { output: { text: 'Done.' }, snapshot })).toMatchObject({ status: 200 });
}

/** A turn of an agent that leaves this. */
async function turn(agent: string, tree: Tree): Promise<Begun> {
  const begun = await bench.begin(project, agent);
  await complete(begun, tree);
  return begun;
}

const artifacts = () =>
  bench.testing.rows<{ creator: string; name: string; kind: string; turn_id: string; sha256: string }>(
    project,
    'SELECT creator, name, kind, turn_id, sha256, workspace_path FROM artifacts ORDER BY seq',
  );
const names = async () => (await artifacts()).map(({ creator, name }) => `${creator}/${name}`);
const unpublished = async ({ turn: id }: Begun) => {
  const rows = await bench.testing.rows<{ stats_json: string | null }>(
    project,
    `SELECT stats_json FROM turn_attempts WHERE turn_id = '${id}'`,
  );
  return (JSON.parse(rows[0]?.stats_json ?? 'null') as { unpublished?: unknown } | null)?.unpublished;
};

test('what a turn leaves in its own directory is published when it completes, each version once', async () => {
  const first = await turn('ada', { notes: 'n', ...own({ 'a.md': '1', 'site/index.md': 'i' }) });
  expect(await artifacts()).toMatchObject([
    { creator: 'ada', name: 'a.md', kind: 'file', turn_id: first.turn, workspace_path: '.suzumio-artifacts/a.md' },
    { creator: 'ada', name: 'site', kind: 'directory', turn_id: first.turn },
  ]);
  const events = await bench.testing.rows<{ type: string }>(
    project,
    'SELECT type FROM events ORDER BY seq DESC LIMIT 3',
  );
  expect(events.map(({ type }) => type)).toContain('artifact.published');
  // Reported again, and a turn that changes something else.
  await complete(first, { notes: 'n', ...own({ 'a.md': '1', 'site/index.md': 'i' }) });
  await turn('ada', { notes: 'm', ...own({ 'a.md': '1', 'site/index.md': 'i' }) });
  expect(await names()).toHaveLength(2);
  await turn('ada', { notes: 'm', ...own({ 'a.md': '2' }) });
  expect(await names()).toEqual(['ada/a.md', 'ada/site', 'ada/a.md']);
});

test('a turn that fails publishes nothing; the next that completes publishes what it has left', async () => {
  const failing = await bench.begin(project, 'ada');
  const snapshot = await storeTree(content, own({ 'a.md': '1' }));
  await bench.testing.write(project, (tx) => {
    tx.run('UPDATE agents SET snapshot = :snapshot WHERE id = :id', { snapshot, id: 'ada' });
    cancelActiveTurn(tx, failing.turn, 'test');
  });
  expect(await names()).toEqual([]);
  await turn('ada', own({ 'a.md': '1' }));
  expect(await names()).toEqual(['ada/a.md']);
});

test('a version by the tool is not replaced by a file that nobody touched, nor published twice', async () => {
  const begun = await bench.begin(project, 'ada');
  const { sha256, sizeBytes } = await begun.upload('1');
  const input = { path: '/artifacts/ada/a.md', sha256, sizeBytes };
  expect(await begun.tool('artifacts.publish', input)).toMatchObject({ status: 200 });
  await complete(begun, own({ 'a.md': '1' }));
  expect(await artifacts()).toMatchObject([{ name: 'a.md', workspace_path: '.suzumio-artifacts/a.md' }]);
  const second = await bench.begin(project, 'ada');
  await second.tool('artifacts.publish', { content: '2', name: 'a.md' });
  await complete(second, { notes: 'n', ...own({ 'a.md': '1' }) });
  expect(await names()).toEqual(['ada/a.md', 'ada/a.md']);
});

test("nobody publishes from another's directory", async () => {
  const begun = await bench.begin(project, 'ada');
  const { sha256, sizeBytes } = await begun.upload('1');
  const input = { path: '/artifacts/ben/a.md', sha256, sizeBytes };
  expect(await begun.tool('artifacts.publish', input)).toMatchObject({ body: { code: 'artifact-path-invalid' } });
});

test('an agent without artifacts.publish publishes nothing, and is told', async () => {
  await turn('ben', own({ 'b.md': '1' }));
  expect(await names()).toEqual([]);
  const { answer } = await bench.begin(project, 'ben');
  expect(answer.input.turn.prompt).toContain(
    '# Artifacts in /artifacts: 0 files of others\n/artifacts/ben is yours to write, and kept for you. It is not published: you have no artifacts.publish.\n',
  );
  expect(answer.input.turn.prompt).toContain('# Workspace: empty\n');
});

test('what cannot be published, or was redacted, is told to its agent and on record', async () => {
  await turn('ada', own({ 'a.md': 'secret' }));
  await bench.testing.write(project, (tx) => tx.run(`UPDATE artifacts SET redacted_json = '{}'`));
  const second = await turn('ada', own({ 'moved.md': 'secret', link: { link: '/etc/passwd' }, 'b.md': 'b' }));
  expect(await names()).toEqual(['ada/a.md', 'ada/b.md']);
  expect(await unpublished(second)).toEqual({
    count: 2,
    items: [
      { name: 'link', why: 'it is a link' },
      { name: 'moved.md', why: 'what was published with this content was redacted' },
    ],
  });
  const { answer } = await bench.begin(project, 'ada');
  expect(answer.input.turn.prompt).toContain('# Not published of /artifacts/ada: 2\n  link: it is a link\n');
});

test('a snapshot whose content is not there is told of, and looked at again after the next turn', async () => {
  const first = await bench.begin(project, 'ada');
  const snapshot = await content.putBytes(
    Buffer.from(
      `{"version":2,"entries":[{"kind":"directory","name":".suzumio-artifacts","sha256":"${'a'.repeat(64)}"}]}`,
    ),
  );
  expect(await first.report('complete', { output: { text: '' }, snapshot })).toMatchObject({ status: 200 });
  expect(await unpublished(first)).toEqual({ count: 1, items: [{ name: 'all of it', why: 'it could not be read' }] });
  await turn('ada', own({ 'a.md': '1' }));
  expect(await names()).toEqual(['ada/a.md']);
});

test('all attempts of a turn find what others had published when it was first claimed', async () => {
  const { answer: before } = await bench.begin(project, 'ben');
  expect(before.artifacts).toEqual({ creators: ['ada', 'ben'], published: [] });
  expect(before.input.turn.prompt).not.toContain('# Artifacts');
  await bench.testing.write(project, (tx) => cancelActiveTurn(tx, before.input.turn.id, 'test'));
  await turn('ada', own({ 'a.md': '1', 'site/x': 'x' }));
  const claimed = await bench.begin(project, 'ben');
  const seen = (answer: ClaimAnswer) => answer.artifacts?.published.map(({ creator, name }) => `${creator}/${name}`);
  expect(seen(claimed.answer)).toEqual(['ada/a.md', 'ada/site']);
  expect(claimed.answer.input.turn.prompt).toContain(
    '# Artifacts in /artifacts: 2 files of others\n  /artifacts/ada, read-only, 2 files of 2 bytes\n',
  );
  await turn('ada', own({ 'a.md': '2', 'b.md': '1' }));
  await claimed.report('fail', { failure: { code: 'worker-lost', message: 'It went away.' } });
  const again = await bench.claim(project, claimed.turn);
  expect(again.body['artifacts']).toEqual(claimed.answer.artifacts);
  expect(again.body['input']).not.toHaveProperty('artifactsUpTo');
});

test('a workspace that takes more memory than there is ends its turn, uncounted, and its agent is told', async () => {
  const tooLarge = new SuzumioError('workspace-too-large', 'It takes more memory than there is.');
  const reading = jest.spyOn(Snapshots.prototype, 'read').mockRejectedValue(tooLarge);
  const first = await turn('ada', own({ 'a.md': '1' }));
  expect(await unpublished(first)).toMatchObject({ items: [{ why: 'It takes more memory than there is.' }] });
  expect(await bench.testing.rows(project, 'SELECT files_json FROM workspace_changes')).toEqual([{ files_json: null }]);
  reading.mockRestore();
  await turn('ada', own({ 'a.md': '1', 'b.md': '2' }));
  expect(await names()).toEqual(['ada/a.md', 'ada/b.md']);
});
