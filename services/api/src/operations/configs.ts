import type { configs } from '@suzumio/contract/operations/configs';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { withoutSecretTexts, withoutSecretValues } from '@suzumio/core/config/agent-env';
import { readSource } from '@suzumio/store/cell/create-project';
import { compareConfigs } from '@suzumio/core/config/compare-configs';
import { listVersions, readVersion, sourceOf, withVariables } from '@suzumio/store/projects/config-versions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { hasVersions } from '@suzumio/store/sqlite/configs';
import type { Cell } from '@suzumio/store/cell/cell';
import type { Runs } from '../routes.js';

export const configRuns: Runs<typeof configs> = {
  listConfigVersions: (call) => call.read((reader) => listVersions(reader, call.query)),

  getConfigVersion: (call) =>
    call.withProject(async (store) => {
      const version = versionOf(call.params.version);
      const view = readVersion(store.reader, version);
      const file = await fileOf(call.context.cell, store, version);
      return { ...view, file, config: withoutSecretValues(configAt(store, version)) };
    }),

  compareConfigVersions: (call) =>
    call.read((reader, store) => {
      const version = versionOf(call.params.version);
      const from = call.query.from ?? Math.max(1, version - 1);
      for (const one of [from, version]) readVersion(reader, one);
      const changes =
        from === version
          ? []
          : compareConfigs(withVariables(reader, store, from), withVariables(reader, store, version));
      return { from, version, changes };
    }),

  /** Parsing files takes long to load: reading does without. */
  diffConfig: async (call) => (await import('./change-config.js')).diffConfig(call),

  applyConfig: async (call) => (await import('./change-config.js')).applyPosted(call),
};

/** @throws SuzumioError `config-version-unknown` */
function versionOf(name: string): number {
  if (/^[1-9]\d{0,14}$/.test(name)) return Number(name);
  throw new SuzumioError('config-version-unknown', `"${name.slice(0, 40)}" is no version: they are counted from 1.`);
}

/** A database of before, which is only read, has the first version alone. */
function configAt(store: ProjectStore, version: number) {
  return version === 1 && !hasVersions(store.reader) ? store.config : store.configAt(version);
}

/** The text of a version's file as it is shown; null where it is not there any more. */
export async function fileOf(cell: Cell, store: ProjectStore, version: number): Promise<string | null> {
  const text = await storedText(cell, store, version);
  return text === null ? null : withoutSecretTexts(text);
}

/** The text of a version's file as it is stored. That of the first is a file beside the database. */
export async function storedText(cell: Cell, store: ProjectStore, version: number): Promise<string | null> {
  const text = sourceOf(store.reader, version);
  return text === null && version === 1 ? readSource(cell.directory, store.project) : text;
}
