import { createHash } from 'node:crypto';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { byPath, type DirectoryFile } from '@suzumio/protocol/artifacts';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { ContentStore } from '@suzumio/store/content/content-store';
import { keptInput } from '@suzumio/store/turns/kept-input';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { claimTurn } from '@suzumio/store/turns/claim-turn';
import { prepareTurn } from '@suzumio/store/turns/prepare-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { submitReport } from '@suzumio/store/projects/project-transitions';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { pushToShared } from '@suzumio/store/turns/push-to-shared';
import { recordToolCall, type ToolCallSite } from '@suzumio/store/turns/record-tool-call';
import { completeTurn } from '@suzumio/store/turns/complete-turn';
import { recordCapture } from '@suzumio/store/turns/captures';
import { failAttempt } from '@suzumio/store/turns/fail-attempt';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import { snapshotBefore } from '@suzumio/store/workspaces/workspace-changes';
import { storeTree, type Tree } from '../../../../test/support/trees.js';
import type { TestApi } from './api.js';

let claims = 0;
const lease = createHash('sha256').update('lease').digest('hex');
const tool = createHash('sha256').update('tool').digest('hex');

/** A turn of `agent` that is running, as the scheduler, a worker and the ToolHost would have brought it about. */
export async function beginTurn(
  api: TestApi,
  project: string,
  agent: string,
): Promise<{ turn: string; attempt: number }> {
  await api.write(project, (tx) =>
    postMessage(tx, { sender: 'user', recipient: agent, priority: 'P1', body: 'Please begin.', actor: 'test' }),
  );
  const turn = await api.write(project, (tx) => {
    startTurns(tx);
    return tx.get<{ id: string }>('SELECT active_turn_id AS id FROM agents WHERE id = :agent', { agent })?.id ?? '';
  });
  return claim(api, project, turn);
}

/** Another attempt of a turn that waits for one. */
export function claim(api: TestApi, project: string, turn: string): Promise<{ turn: string; attempt: number }> {
  return api.store(project, async (store) => {
    const prepared = prepareTurn(store.reader, store.config, turn);
    const claimed = await store.write((tx) =>
      claimTurn(tx, {
        turn,
        claimId: `claim-${String((claims += 1))}`,
        worker: 'worker-1',
        engine: 'test',
        leaseMs: 60_000,
        hashes: () => ({ lease, tool }),
        prepared,
      }),
    );
    if (typeof claimed === 'string') throw new Error(claimed);
    return { turn, attempt: claimed.attempt };
  });
}

/** A turn that makes one tool call, whose effect is `effect`, and ends well. */
export async function playTurn(
  api: TestApi,
  project: string,
  agent: string,
  call: string,
  effect: (tx: Tx, site: ToolCallSite) => void,
): Promise<string> {
  return playCall(api, project, agent, { tool: call, input: {} }, (tx, site) => {
    effect(tx, site);
    return { output: 'Done.' };
  });
}

/** The same, where the call has an input and an answer of its own. */
export async function playCall(
  api: TestApi,
  project: string,
  agent: string,
  { tool: name, input }: Pick<PlayedStep, 'tool' | 'input'>,
  answer: (tx: Tx, site: ToolCallSite) => ToolResponse,
): Promise<string> {
  const { turn, attempt } = await beginTurn(api, project, agent);
  await api.write(project, (tx) => {
    const id = { agent, turn, attempt, tokenHash: tool };
    const { result } = recordToolCall(
      tx,
      { ...id, step: '0', tool: name, input: keptInput(input), requestHash: `hash of ${name}` },
      (site) => answer(tx, site),
    );
    if (!result.ok) throw new Error(result.message);
    completeTurn(tx, { turn, attempt }, { output: { text: 'I am done.' } });
  });
  return turn;
}

/** One step of a turn, as its attempt recorded it. */
export interface PlayedStep {
  step: string;
  tool: string;
  input: unknown;
  output: string;
}

/** Steps of a running turn. */
export async function takeSteps(
  api: TestApi,
  project: string,
  { agent, turn, attempt }: { agent: string; turn: string; attempt: number },
  steps: readonly PlayedStep[],
): Promise<void> {
  await api.write(project, (tx) => {
    for (const { step, tool: name, input, output } of steps) {
      const call = { agent, turn, attempt, tokenHash: tool, step, tool: name, input: keptInput(input) };
      recordToolCall(tx, { ...call, requestHash: `hash of ${step}` }, () => ({ output }));
    }
  });
}

/** A turn that pushes to the shared repository: a pack, which is not looked at, or no objects. */
export async function push(
  api: TestApi,
  project: string,
  agent: string,
  updates: { ref: string; from: string | null; to: string | null }[],
  pack?: Buffer,
): Promise<void> {
  const { turn, attempt } = await beginTurn(api, project, agent);
  const content = new ContentStore(api.cell.directory.projectDir(project));
  const stored = pack && {
    sha256: await content.putBytes(pack),
    sizeBytes: pack.length,
    objects: pack.readUInt32BE(8),
  };
  await api.write(project, (tx) => {
    pushToShared(tx, { turn, attempt, tokenHash: tool }, { key: `push-of-${turn}`, updates }, stored);
    completeTurn(tx, { turn, attempt }, { output: { text: 'I am done.' } });
  });
}

/** A turn that leaves these files in its workspace, counted as the ToolHost counts them. */
export async function leaveFiles(api: TestApi, project: string, agent: string, tree: Tree): Promise<string> {
  const { turn, attempt } = await beginTurn(api, project, agent);
  const directory = api.cell.directory.projectDir(project);
  const snapshot = await storeTree(new ContentStore(directory), tree);
  await api.store(project, async (store) => {
    const before = snapshotBefore(store.reader, turn);
    const compared = { before, after: snapshot, page: { limit: 0 } };
    const counted = await new Snapshots().read(directory, 'compare', compared);
    const report = { output: { text: 'I am done.' }, snapshot };
    await store.write((tx) => completeTurn(tx, { turn, attempt }, report, { before, ...counted }));
  });
  return turn;
}

/** A turn that fails; with a tree, once that was captured. */
export async function failTurn(
  api: TestApi,
  project: string,
  agent: string,
  tree?: Tree,
  failure: Failure = { code: 'non-zero-exit', message: 'The runner ended with exit code 3.' },
): Promise<string> {
  const { turn, attempt } = await beginTurn(api, project, agent);
  if (tree) {
    const snapshot = await storeTree(new ContentStore(api.cell.directory.projectDir(project)), tree);
    await api.write(project, (tx) => recordCapture(tx, { turn, attempt }, { number: 1, snapshot, steps: [] }));
  }
  await api.write(project, (tx) => failAttempt(tx, { turn, attempt }, { failure }));
  return turn;
}

/** Has `agent` submit a report. */
export async function submit(api: TestApi, project: string, agent: string, report: string): Promise<void> {
  const content = new ContentStore(api.cell.directory.projectDir(project));
  const path = content.pathOf(await content.putBytes(Buffer.from(report)));
  await playTurn(api, project, agent, 'completion.submit', (tx, { turn, promptSeq }) =>
    submitReport(tx, { path, agent, turn, promptSeq }),
  );
}

/** Has `agent` publish a file, or with `base` a patch. */
export async function publish(
  api: TestApi,
  project: string,
  agent: string,
  file: { name: string; content: Buffer; base?: string },
): Promise<{ id: string; sha256: string }> {
  const store = new ContentStore(api.cell.directory.projectDir(project));
  const sha256 = await store.putBytes(file.content);
  const published = { id: '', sha256 };
  await playTurn(api, project, agent, 'artifacts.publish', (tx, { turn }) => {
    published.id = publishArtifact(tx, {
      creator: agent,
      turn,
      name: file.name,
      path: store.pathOf(sha256),
      sha256,
      sizeBytes: file.content.length,
      base: file.base,
    }).id;
  });
  return published;
}

/** Publishes a directory of files, by their paths and texts, and returns the artifact's id. */
export async function publishDirectory(
  api: TestApi,
  project: string,
  name: string,
  texts: Readonly<Record<string, string>>,
  executable: readonly string[] = [],
): Promise<string> {
  const content = new ContentStore(api.cell.directory.projectDir(project));
  const directories = new Set(
    Object.keys(texts).flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, at, parts) => parts.slice(0, at + 1).join('/')),
    ),
  );
  const files: DirectoryFile[] = [];
  for (const [path, text] of Object.entries(texts)) {
    const bytes = Buffer.from(text);
    const sha256 = await content.putBytes(bytes);
    files.push({ kind: 'file', path, sha256, sizeBytes: bytes.length, executable: executable.includes(path) });
  }
  const entries = [...files, ...[...directories].map((path) => ({ kind: 'directory' as const, path }))].sort(byPath);
  const sha256 = await content.putBytes(Buffer.from(JSON.stringify({ version: 1, entries })));
  const { id } = await api.write(project, (tx) =>
    publishArtifact(tx, {
      creator: 'ada',
      name,
      path: content.pathOf(sha256),
      sha256,
      sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
      directory: { files: files.length, contents: files.map((file) => file.sha256) },
    }),
  );
  return id;
}

/** A call of a model that an agent's newest turn has made, as a ToolHost leaves it. */
export async function payForCall(
  api: TestApi,
  project: string,
  agent: string,
  paid: { usd: number; model?: string; inputTokens?: number; outputTokens?: number; endedAtMs?: number },
): Promise<void> {
  await api.write(project, (tx) => {
    const turn = tx.get<{ id: string }>('SELECT id FROM turns WHERE agent_id = :agent ORDER BY number DESC LIMIT 1', {
      agent,
    });
    tx.insert('model_calls', {
      id: tx.newId('call'),
      turn_id: turn?.id ?? '',
      agent_id: agent,
      attempt: 1,
      step: '0',
      status: 'answered',
      request_hash: 'h',
      asked_preset: 'only',
      purpose: 'turn',
      owner: 'o',
      until_ms: 0,
      held_tokens: 0,
      held_nano_usd: 0,
      preset: 'only',
      provider: 'one',
      model: paid.model ?? 'm',
      input_tokens: paid.inputTokens ?? 10,
      output_tokens: paid.outputTokens ?? 5,
      nano_usd: Math.round(paid.usd * 1e9),
      started_at_ms: paid.endedAtMs ?? tx.nowMs,
      ended_at_ms: paid.endedAtMs ?? tx.nowMs,
    });
  });
}
