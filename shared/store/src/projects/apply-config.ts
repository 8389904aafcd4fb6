import { isDeepStrictEqual } from 'node:util';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { type ProjectConfig, USER_ID } from '@suzumio/contract/model/project-config';
import { agentVariables, withoutEnvValues } from '@suzumio/core/config/agent-env';
import { compareConfigs } from '@suzumio/core/config/compare-configs';
import { describeChange } from '@suzumio/core/config/describe-change';
import { passedQuota, quotaExceeded } from '../content/stored-bytes.js';
import { newestVersion } from '../sqlite/configs.js';
import type { Tx } from '../sqlite/tx.js';
import { addVersion, livingFacts, readVersion, sourceOf, withVariables } from './config-versions.js';
import { bringBack, retireAgent } from './retire-agent.js';
import { addAgent, addVariables, setChannels, updateAgent } from './roster.js';

/** What is to be the newest version of a project's file. */
export interface NewConfig {
  /** The version that it was made from: it is refused where another one is the newest. */
  base: number;
  /** Resolved, with the values of variables. */
  config: ProjectConfig;
  /** The text of the file. */
  source: string;
  /** The version that it brings back. */
  reverts?: number | undefined;
  actor: string;
  /** The first snapshots of new agents' workspaces. */
  snapshots: ReadonlyMap<string, string>;
}

/** The version that is in force, and what it changed. */
export interface AppliedConfig {
  version: number;
  changes: ConfigChange[];
}

/** How many changes an error, and an event, tells of. */
const mostTold = 20;

/**
 * Puts a new version of the project's file in force: agents have it from their next turn, and what it takes away is taken from
 * turns that run, too. A file that says what the newest version says is no new one.
 *
 * @throws SuzumioError `config-version-unknown`, `config-conflict`, `config-change-refused`, `quota-exceeded`
 */
export function applyConfig(tx: Tx, next: NewConfig): AppliedConfig {
  const { config, source, reverts, actor } = next;
  const newest = newestVersion(tx);
  const current = withVariables(tx, tx, newest);
  requireNewest(tx, next.base, newest);
  const changes = compareConfigs(current, config, livingFacts(tx));
  requirePossible(changes);
  if (changes.length === 0 && source === sourceOf(tx, newest)) return { version: newest, changes };
  requireRoom(tx, config, source);

  const version = newest + 1;
  const isSameEnv = isDeepStrictEqual(agentVariables(current), agentVariables(config));
  const envVersion = isSameEnv ? envVersionOf(tx, newest) : version;
  const changed = changes.map(({ path }) => path);
  addVersion(tx, { number: version, config, envVersion, actor, reverts, changed, source });
  tx.run('UPDATE projects SET task = :task, config_json = :json', {
    task: config.task,
    json: JSON.stringify(withoutEnvValues(config)),
  });
  const { added, gone } = setAgents(tx, next);
  setChannels(tx, config.channels);
  if (!isSameEnv) addVariables(tx, config, version);
  // Last, since notices of their ends go to those that stay.
  for (const id of gone) retireAgent(tx, id, { version, actor });
  tx.emit({
    type: 'config.changed',
    actor,
    data: {
      version,
      ...(reverts === undefined ? {} : { reverts }),
      changes: changes.length,
      changed: changed.slice(0, mostTold),
      added,
      retired: gone,
    },
  });
  return { version, changes };
}

/** Has the rows of agents be those of the file. Returns which are new or back, and which are in it no more. */
function setAgents(tx: Tx, { config, snapshots }: NewConfig): { added: string[]; gone: string[] } {
  const rows = tx.all<{ id: string; retired: number | null }>(
    'SELECT id, retired_version AS retired FROM agents ORDER BY position',
  );
  const known = new Map(rows.map(({ id, retired }) => [id, retired !== null]));
  // No two have the same position, not even in between.
  tx.run('UPDATE agents SET position = -1 - position');
  const added: string[] = [];
  const ids = Object.keys(config.agents);
  Object.entries(config.agents).forEach(([id, agent], position) => {
    const wasRetired = known.get(id);
    if (wasRetired !== false) added.push(id);
    if (wasRetired === undefined) addAgent(tx, id, agent, { position, snapshot: snapshots.get(id) ?? null });
    else updateAgent(tx, id, agent, position);
    if (wasRetired) bringBack(tx, id);
  });
  const others = rows.filter(({ id }) => !Object.hasOwn(config.agents, id));
  others.forEach(({ id }, index) => {
    tx.run('UPDATE agents SET position = :position WHERE id = :id', { id, position: ids.length + index });
  });
  return { added, gone: others.filter(({ retired }) => retired === null).map(({ id }) => id) };
}

function requireNewest(tx: Tx, base: number, newest: number): void {
  if (base === newest) return;
  const { by } = readVersion(tx, newest);
  const since = compareConfigs(withVariables(tx, tx, base), withVariables(tx, tx, newest)).map(describeChange);
  throw new SuzumioError(
    'config-conflict',
    `The project's file was read at version ${String(base)}, and is at version ${String(newest)} by now (${by}): look at what has changed, and apply it to that one.`,
    { base, version: newest, by, changes: since.slice(0, mostTold) },
  );
}

/** @throws SuzumioError `config-change-refused` with what cannot be changed, and what can be done instead */
export function requirePossible(changes: readonly ConfigChange[]): void {
  const refused = changes.filter(({ effect }) => effect === 'refused');
  if (refused.length === 0) return;
  const told = refused.slice(0, mostTold).map(({ path, reason }) => `${path}: ${reason}`);
  const more = refused.length > told.length ? [`${String(refused.length - told.length)} more.`] : [];
  throw new SuzumioError('config-change-refused', [...told, ...more].join('\n'), {
    changes: refused.slice(0, mostTold).map(describeChange),
  });
}

/** What people store counts towards the project's quota. */
function requireRoom(tx: Tx, config: ProjectConfig, source: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(config)) + Buffer.byteLength(source);
  const passed = passedQuota(tx, tx.storage, USER_ID, 'rows', { ofOwner: bytes, ofProject: bytes });
  if (passed) throw quotaExceeded(passed);
}

function envVersionOf(tx: Tx, version: number): number {
  const sql = 'SELECT env_version AS env FROM config_versions WHERE number = :version';
  return tx.get<{ env: number }>(sql, { version })?.env ?? version;
}
