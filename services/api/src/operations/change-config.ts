import { formatProblem } from '@suzumio/core/config/config-problem';
import { compareConfigs } from '@suzumio/core/config/compare-configs';
import { hiddenFields, withValuesOf } from '@suzumio/core/config/hidden-values';
import { localToolpacks, withoutTaken } from '@suzumio/core/config/local-toolpacks';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { hiddenValue, withoutEnvTexts, withoutSecretValues } from '@suzumio/core/config/agent-env';
import { takenDenials } from '@suzumio/core/policy/check-toolpack';
import { describeDenial } from '@suzumio/core/policy/denial';
import type { Policy } from '@suzumio/core/policy/policy';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import type { ProfileRegistry } from '@suzumio/core/profiles/registry';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { type ProjectConfig, USER_ID } from '@suzumio/contract/model/project-config';
import type { ApplyConfigAnswer, configs } from '@suzumio/contract/operations/configs';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import type { Catalog } from '@suzumio/store/cell/catalog';
import type { Cell } from '@suzumio/store/cell/cell';
import { seedWorkspaces } from '@suzumio/store/cell/create-project';
import { policyWithGrants } from '@suzumio/store/cell/grants';
import { requireRepositories } from '@suzumio/runtime/repository/project-repositories';
import { ContentStore } from '@suzumio/store/content/content-store';
import { readToolpacksAnew } from '@suzumio/store/content/take-toolpacks';
import { applyConfig, requirePossible } from '@suzumio/store/projects/apply-config';
import { livingFacts, withVariables } from '@suzumio/store/projects/config-versions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import type { Json } from '@suzumio/store/sqlite/tx';
import type { Call } from '../call.js';
import type { ApiContext } from '../context.js';
import type { Run } from '../routes.js';
import { admitPosted } from './admit-posted.js';
import { storedText } from './stored-file.js';

type Asking = Call<typeof configs.diffConfig> | Call<typeof configs.applyConfig>;

/** The version of a project's file that is in force, with the values of variables. */
export interface InForce {
  version: number;
  config: ProjectConfig;
}

/** A file for a project that is there, and what it would change. */
export interface Judged {
  loaded: LoadedProject;
  changes: ConfigChange[];
  /** Whether a workspace may be copied from a directory. */
  mayCopy: (directory: string) => boolean;
  /** The files of its toolpacks, which are not stored yet. */
  contents: readonly Uint8Array[];
  said: ReturnType<typeof saidOf>;
}

export const diffConfig: Run<typeof configs.diffConfig> = (call) =>
  call.withProject(async (store) => {
    const now = inForce(store);
    const { changes, said } = await judge(call.context, store, now, await wanted(call, store, now));
    return { version: now.version, changes, ...said };
  });

export const applyPosted: Run<typeof configs.applyConfig> = async (call) => {
  const { baseVersion: base, revert: reverts } = call.body;
  const { actor, context } = call;
  const { next, said } = await call.withProject(async (store) => {
    const now = inForce(store);
    const judged = await judge(context, store, now, await wanted(call, store, now));
    const { config, sourceText: source } = judged.loaded;
    // Where it was made from another version, it is refused, or was applied by an earlier request with the same key.
    const snapshots = base === now.version ? await newFiles(context, store, now, judged) : new Map<string, string>();
    return { next: { base, config, source, reverts, actor, snapshots }, said: judged.said };
  });
  return call.write((tx) => ({ ...applyConfig(tx, next), ...said }) as ApplyConfigAnswer & Json);
};

/** The newest version, all of it of one moment. */
export function inForce(store: ProjectStore): InForce {
  return store.snapshot((reader) => {
    const version = newestVersion(reader);
    return { version, config: withVariables(reader, store, version) };
  });
}

async function wanted(call: Asking, store: ProjectStore, now: InForce): Promise<LoadedProject> {
  const { cell } = call.context;
  const { file, revert } = call.body;
  if (file === undefined) return formerVersion(cell, store, revert ?? now.version);
  return loadProjectText(file, 'file', { profiles: profilesFor(call.identity, cell.catalog, now.config) });
}

/**
 * Judges a file as where a project is made from it, but for what is in force already.
 *
 * @throws {ConfigErrors} `policy-denied`, `not-supported-yet`, `invalid-config`
 */
export async function judge(
  context: ApiContext,
  store: ProjectStore,
  { config: current }: InForce,
  file: LoadedProject,
): Promise<Judged> {
  const stored = asStored(file, current);
  const policy = policyWithGrants(context.policy, context.cell.directory)(store.project);
  const { mayCopy, mayLoad } = admitPosted({ ...context, policy }, stored, current);
  refuseTaken(policy, stored.config, current);
  await requireRepositories(stored, {
    mayInspect: (path) => context.host.lookUp(path) !== undefined,
    known: current,
  });
  const { config, contents, kept } = await readToolpacksAnew(current, stored.config, mayLoad);
  const loaded = { ...stored, config };
  const { warnings, notes } = saidOf(loaded);
  return {
    loaded,
    mayCopy,
    contents,
    changes: compareConfigs(current, config, livingFacts(store.reader)),
    said: { warnings: [...warnings, ...kept], notes },
  };
}

/** Refuses toolpacks of an earlier version that came from where none may be loaded by now, unless they are in force. */
function refuseTaken(policy: Policy, next: ProjectConfig, current: ProjectConfig): void {
  const known = new Set(localToolpacks(current).map(({ directory }) => directory));
  const brought = localToolpacks(next).filter(({ directory }) => !known.has(directory));
  const denied = brought.flatMap((pack) => takenDenials(policy, pack));
  if (denied.length > 0) throw new SuzumioError('policy-denied', `${denied.map(describeDenial).join('; ')}.`);
}

/**
 * Copies the workspaces that new agents begin with, and stores the files of toolpacks.
 *
 * @throws SuzumioError `config-change-refused` before anything is copied
 */
export async function newFiles(
  { cell }: ApiContext,
  store: ProjectStore,
  { config: current }: InForce,
  { loaded: { config }, changes, mayCopy, contents }: Judged,
): Promise<Map<string, string>> {
  requirePossible(changes);
  const agents = Object.fromEntries(Object.entries(config.agents).filter(([id]) => !Object.hasOwn(current.agents, id)));
  const content = new ContentStore(cell.directory.projectDir(store.project));
  for (const bytes of contents) {
    await store.content.putBytes(content, Buffer.from(bytes), { owner: USER_ID, kind: 'uploads' });
  }
  return seedWorkspaces(content, { config: { ...config, agents }, mayCopy });
}

/** A version as it was resolved: what it was made from, such as a profile, may be another by now, or gone. */
async function formerVersion(cell: Cell, store: ProjectStore, version: number): Promise<LoadedProject> {
  const config = withVariables(store.reader, store, version);
  return {
    config,
    sourceText: (await storedText(cell, store, version)) ?? renderConfig(withoutTaken(withoutSecretValues(config))),
    files: [],
    warnings: [],
    notes: [],
    locate: () => ({ file: `version ${String(version)}`, line: 1, column: 1 }),
  };
}

/**
 * A posted file with the values that it hides, and the text that is kept of it.
 *
 * @throws SuzumioError `invalid-config` where it hides a value that is not there
 */
function asStored(loaded: LoadedProject, current: ProjectConfig): LoadedProject {
  const config = withValuesOf(current, loaded.config);
  const [unknown] = hiddenFields(config);
  if (unknown === undefined) return { ...loaded, config, sourceText: withoutEnvTexts(loaded.sourceText) };
  throw new SuzumioError(
    'invalid-config',
    `${unknown} is "${hiddenValue}", which stands for the value that is there, and there is none: write the value.`,
    { field: unknown },
  );
}

/**
 * The profiles that a file may name. Those that the project's agents have started from may have been retired since; who may
 * not read profiles can name no other.
 */
export function profilesFor(
  { project }: ApiIdentity,
  { profiles }: Catalog,
  { agents }: ProjectConfig,
): ProfileRegistry {
  const own = new Set(Object.values(agents).flatMap(({ profile }) => profile ?? []));
  return {
    find(name) {
      const profile = profiles.find(name);
      if (profile && own.has(profile.id)) return { ...profile, retiredAt: null };
      return project === null ? profile : undefined;
    },
    nicknames: () => (project === null ? profiles.nicknames() : []),
  };
}

/** What is said of a file that loads. */
export function saidOf({ warnings, notes }: LoadedProject): { warnings: string[]; notes: string[] } {
  return { warnings: warnings.map(formatProblem), notes: notes.map(formatProblem) };
}
