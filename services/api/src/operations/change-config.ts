import { formatProblem } from '@suzumio/core/config/config-problem';
import { compareConfigs } from '@suzumio/core/config/compare-configs';
import { hiddenFields, withValuesOf } from '@suzumio/core/config/hidden-values';
import { withoutEnvTexts } from '@suzumio/core/config/agent-env';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { renderConfig } from '@suzumio/core/config/render-config';
import { hiddenValue, withoutSecretValues } from '@suzumio/core/config/agent-env';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import type { ProfileRegistry } from '@suzumio/core/profiles/registry';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ConfigChange } from '@suzumio/contract/model/config-change';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ApplyConfigAnswer, configs } from '@suzumio/contract/operations/configs';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import type { Catalog } from '@suzumio/store/cell/catalog';
import { readSource, seedWorkspaces } from '@suzumio/store/cell/create-project';
import { policyWithGrants } from '@suzumio/store/cell/grants';
import { ContentStore } from '@suzumio/store/content/content-store';
import { applyConfig, requirePossible } from '@suzumio/store/projects/apply-config';
import { livingFacts, sourceOf, withVariables } from '@suzumio/store/projects/config-versions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import type { Json } from '@suzumio/store/sqlite/tx';
import type { Call } from '../call.js';
import type { Run } from '../routes.js';
import { admitPosted } from './admit-posted.js';

type Asking = Call<typeof configs.diffConfig> | Call<typeof configs.applyConfig>;

/** What a file would change in a project that is there. */
interface Prepared {
  /** The newest version, and what it is with the values of variables. */
  version: number;
  current: ProjectConfig;
  loaded: LoadedProject;
  changes: ConfigChange[];
  /** Whether a workspace may be copied from a directory. */
  mayCopy: (directory: string) => boolean;
}

export const diffConfig: Run<typeof configs.diffConfig> = (call) =>
  call.withProject(async (store) => {
    const { version, changes, loaded } = await prepare(call, store);
    return { version, changes, ...saidOf(loaded) };
  });

export const applyPosted: Run<typeof configs.applyConfig> = async (call) => {
  const { baseVersion: base, revert: reverts } = call.body;
  const { loaded, snapshots } = await call.withProject(async (store) => {
    const prepared = await prepare(call, store);
    // Before anything is copied; it is looked at again where it is applied.
    if (base === prepared.version) requirePossible(prepared.changes);
    return { ...prepared, snapshots: base === prepared.version ? await seedNew(call, prepared) : new Map() };
  });
  const { config, sourceText: source } = loaded;
  const answer = await call.write((tx) => {
    const applied = applyConfig(tx, { base, config, source, reverts, actor: call.actor, snapshots });
    return { ...applied, ...saidOf(loaded) } as ApplyConfigAnswer & Json;
  });
  return answer;
};

async function prepare(call: Asking, store: ProjectStore): Promise<Prepared> {
  const { context, identity } = call;
  const { cell } = context;
  const { version, current } = store.snapshot((reader) => {
    const newest = newestVersion(reader);
    return { version: newest, current: withVariables(reader, store, newest) };
  });
  const { file, revert } = call.body;
  const loaded =
    file === undefined
      ? await formerVersion(call, store, revert ?? version)
      : asStored(loadProjectText(file, 'file', { profiles: profilesFor(identity, cell.catalog, current) }), current);
  const policy = policyWithGrants(context.policy, cell.directory)(store.project);
  const mayCopy = admitPosted({ ...context, policy }, loaded, current);
  return { version, current, loaded, mayCopy, changes: compareConfigs(current, loaded.config, livingFacts(store.reader)) };
}

/** A version as it was resolved: what it was made from, such as a profile, may be another by now, or gone. */
async function formerVersion({ context: { cell } }: Asking, store: ProjectStore, version: number): Promise<LoadedProject> {
  const config = withVariables(store.reader, store, version);
  const text = sourceOf(store.reader, version) ?? (version === 1 ? await readSource(cell.directory, store.project) : null);
  return {
    config,
    sourceText: text ?? renderConfig(withoutSecretValues(config)),
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
function profilesFor({ project }: ApiIdentity, { profiles }: Catalog, { agents }: ProjectConfig): ProfileRegistry {
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

/** Copies the workspaces that new agents begin with. */
function seedNew(
  { context: { cell }, params }: Call<typeof configs.applyConfig>,
  { current, loaded: { config }, mayCopy }: Prepared,
): Promise<Map<string, string>> {
  const agents = Object.fromEntries(Object.entries(config.agents).filter(([id]) => !Object.hasOwn(current.agents, id)));
  const content = new ContentStore(cell.directory.projectDir(params.project));
  return seedWorkspaces(content, { config: { ...config, agents }, mayCopy });
}

function saidOf({ warnings, notes }: LoadedProject): { warnings: string[]; notes: string[] } {
  return { warnings: warnings.map(formatProblem), notes: notes.map(formatProblem) };
}
