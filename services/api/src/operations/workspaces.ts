import { posix } from 'node:path';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { FileCounts, WorkspaceChangeView } from '@suzumio/contract/model/workspace';
import type { workspaces } from '@suzumio/contract/operations/workspaces';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '@suzumio/store/content/content-store';
import { agentRow } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { turnCalled } from '@suzumio/store/turns/read-turns';
import { workspaceRepository } from '@suzumio/store/turns/upstream-looks';
import type { Found } from '@suzumio/store/workspaces/look-into';
import { restoreWorkspace } from '@suzumio/store/workspaces/restore-workspace';
import { Snapshots } from '@suzumio/store/workspaces/snapshots';
import {
  listWorkspaceChanges,
  snapshotAfter,
  snapshotsOfChange,
  snapshotsOfTurn,
} from '@suzumio/store/workspaces/workspace-changes';
import type { ApiContext } from '../context.js';
import { maxDiffFiles, turnDiff } from '../diff/turn-diff.js';
import type { Call } from '../call.js';
import type { Runs } from '../routes.js';
import { sendContent } from './send-content.js';

type Workspaces = typeof workspaces;

/** What is looked for in a workspace. */
interface Place {
  agent: string;
  path: string;
  /** Undefined as it is now. */
  turn: number | undefined;
}

/** How many files are looked at together. */
const renewedAtOnce = 32;

/** Of how many turns that did not complete a list counts the files. */
const mostCounted = 20;

/** How many changes a part of a path's history looks at. */
const mostCompared = 50;

export function workspaceRuns(): Runs<Workspaces> {
  const snapshots = new Snapshots();
  const directoryOf = ({ cell }: ApiContext, project: string) => cell.directory.projectDir(project);

  /** @throws SuzumioError `workspace-path-unknown` */
  async function look(
    projectDir: string,
    snapshot: string | null,
    place: Place,
    page: { limit: number; after?: string | undefined },
  ): Promise<Found> {
    const found = await snapshots.read(projectDir, 'look', { snapshot, path: place.path, ...page });
    if (found) return found;
    throw unknownPath(place, 'is not in');
  }

  /** Whether everything in a snapshot is stored; it then stays for a day. */
  async function renewAll(projectDir: string, snapshot: string | null): Promise<boolean> {
    const content = new ContentStore(projectDir);
    const hashes = await snapshots.read(projectDir, 'contents', { snapshot });
    for (let start = 0; start < hashes.length; start += renewedAtOnce) {
      const some = hashes.slice(start, start + renewedAtOnce);
      const sizes = await Promise.all(some.map((sha256) => content.renew(sha256)));
      if (sizes.includes(undefined)) return false;
    }
    return true;
  }

  /** How many files a change has changed, or of those at a path; null where that cannot be known. */
  async function countedNow(
    projectDir: string,
    asked: ReturnType<typeof snapshotsOfTurn>,
    path?: string,
  ): Promise<FileCounts | null> {
    try {
      return (await snapshots.read(projectDir, 'compare', { ...asked, page: { limit: 0, path } })).files;
    } catch (error) {
      if (error instanceof SnapshotInvalid || isSuzumioError(error, 'workspace-too-large')) return null;
      throw error;
    }
  }

  /** The changes that concern a path, with the counts of what is there. */
  async function historyOf(call: Call<Workspaces['listWorkspaceChanges']>, path: string) {
    const projectDir = directoryOf(call.context, call.params.project);
    const page = { ...call.query, limit: Math.min(call.query.limit, mostCompared) };
    const { part, compared } = await call.read((reader) => {
      const listed = listWorkspaceChanges(reader, agentRow(reader, call.params.agent).id, page);
      return { part: listed, compared: listed.items.map(({ seq }) => snapshotsOfChange(reader, seq)) };
    });
    const items: WorkspaceChangeView[] = [];
    for (const [index, change] of part.items.entries()) {
      const asked = compared[index];
      const files = asked ? await countedNow(projectDir, asked, path) : null;
      if (files === null || files.added + files.changed + files.removed > 0) items.push({ ...change, files });
    }
    return { ...part, items };
  }

  return {
    async listWorkspaceChanges(call) {
      const { path } = call.query;
      if (path !== undefined) return historyOf(call, path);
      const { part, uncounted } = await call.read((reader) => {
        const { id } = agentRow(reader, call.params.agent);
        const listed = listWorkspaceChanges(reader, id, call.query);
        const turns = listed.items.flatMap(({ turn, files }) => (files === null && turn !== null ? [turn] : []));
        const left = turns.slice(0, mostCounted).map((turn) => [turn, snapshotsOfTurn(reader, turn)] as const);
        return { part: listed, uncounted: new Map(left) };
      });
      for (const change of part.items) {
        const asked = change.turn === null ? undefined : uncounted.get(change.turn);
        if (asked) change.files = await countedNow(directoryOf(call.context, call.params.project), asked);
      }
      return part;
    },

    async listWorkspaceEntries(call) {
      const { agent, project } = call.params;
      const { path = '', turn, limit, after } = call.query;
      const snapshot = await call.read((reader) => snapshotOf(reader, agent, turn));
      const place = { agent, path, turn };
      const found = await look(directoryOf(call.context, project), snapshot, place, { limit, after });
      if (found.kind !== 'directory') return { directory: false, items: [found] };
      const { items, next } = found;
      return { directory: true, items, ...(next === undefined ? {} : { next }) };
    },

    async getWorkspaceFile(call) {
      const { agent, project } = call.params;
      const { path, turn } = call.query;
      const { snapshot, isNow } = await call.read((reader) => {
        const asked = snapshotOf(reader, agent, turn);
        return { snapshot: asked, isNow: asked === agentRow(reader, agent).snapshot };
      });
      const projectDir = directoryOf(call.context, project);
      const place = { agent, path, turn };
      const found = await look(projectDir, snapshot, place, { limit: 0 });
      if (found.kind === 'directory') throw unknownPath(place, 'is a directory in');
      if (found.kind === 'link') throw unknownPath(place, `is a link to "${found.target.slice(0, 200)}" in`);
      const content = new ContentStore(projectDir);
      if (!isNow && (await content.sizeOf(found.sha256)) === undefined) throw collected(place);
      await sendContent(call.request, call.response, content, { ...found, name: posix.basename(path) });
    },

    async getWorkspaceRepository(call) {
      return call.withProject((store) => workspaceRepository(store.reader, store.config, call.params.agent));
    },

    async restoreWorkspace(call) {
      const { agent, project } = call.params;
      const { turn } = call.body;
      const { before, snapshot } = await call.read((reader) => {
        return { before: agentRow(reader, agent).snapshot, snapshot: snapshotOf(reader, agent, turn) };
      });
      const projectDir = directoryOf(call.context, project);
      const isKept = await renewAll(projectDir, snapshot);
      const files =
        (await countedNow(projectDir, { before, after: snapshot })) ??
        // Where what the files are now cannot be read, all of the restored ones are new.
        (await snapshots.read(projectDir, 'compare', { before: null, after: snapshot, page: { limit: 0 } })).files;
      // All refusals are here, where a request that comes again gets the answer that it had.
      return call.write((tx) => {
        if (!isKept) throw collected({ agent, path: '.', turn });
        restoreWorkspace(tx, { agent, turn, before, snapshot, files }, call.actor);
        return { agent, turn, files };
      });
    },

    async getTurnChanges(call) {
      const { project, turn: name } = call.params;
      const { turn, before, after } = await call.read((reader) => turnOf(reader, name, call.query.from));
      const projectDir = directoryOf(call.context, project);
      const { files, items, next } = await snapshots.read(projectDir, 'compare', { before, after, page: call.query });
      const part = { files, items, ...(next === undefined ? {} : { next }) };
      return { turn: turn.id, turnNumber: turn.number, agent: turn.agent_id, ...part };
    },

    async getTurnDiff(call) {
      const { project, turn: name } = call.params;
      const { before, after } = await call.read((reader) => turnOf(reader, name, call.query.from));
      const projectDir = directoryOf(call.context, project);
      const page = { limit: maxDiffFiles, path: call.query.path };
      const { files, items } = await snapshots.read(projectDir, 'compare', { before, after, page });
      const total = files.added + files.changed + files.removed;
      // An agent chose what is in it: a browser must save it, and neither show nor run it.
      call.response.attachment(`${project}-${name}.diff`).type('text/x-diff; charset=utf-8');
      call.response.send(await turnDiff(new ContentStore(projectDir), items, total));
    },
  };
}

/**
 * A turn, and the snapshots before and after it; or before it and all turns since another one.
 *
 * @throws SuzumioError `turn-unknown`
 */
function turnOf(reader: SqlReader, name: string, from: number | undefined) {
  const turn = turnCalled(reader, name);
  if (from === undefined) return { turn, ...snapshotsOfTurn(reader, turn.id) };
  const before = snapshotOf(reader, turn.agent_id, from);
  return { turn, before, after: snapshotAfter(reader, turn.agent_id, turn.number) };
}

/** @throws SuzumioError `agent-unknown`, `turn-unknown` */
function snapshotOf(reader: SqlReader, agent: string, turn: number | undefined): string | null {
  const row = agentRow(reader, agent);
  if (turn === undefined) return row.snapshot;
  if (turn > 0) turnCalled(reader, `${agent}:${turn}`);
  return snapshotAfter(reader, agent, turn);
}

function unknownPath({ agent, path, turn }: Place, what: string): SuzumioError {
  const when = turn === undefined ? '' : ` as it was after its turn ${turn}`;
  return new SuzumioError(
    'workspace-path-unknown',
    `"${path.slice(0, 200)}" ${what} the workspace of ${agent}${when}. Files are named by their paths in it, such as src/main.py.`,
  );
}

function collected({ agent, path, turn = 0 }: Place): SuzumioError {
  const what = path === '.' ? 'Some of the files' : `The content of "${path.slice(0, 200)}"`;
  const verb = path === '.' ? 'are' : 'is';
  return new SuzumioError(
    'content-collected',
    `${what} ${verb} no longer kept as ${agent} had ${path === '.' ? 'them' : 'it'} after turn ${turn}: what old turns have left is removed after a while (policy: storage.history).`,
  );
}
