import type { configs } from '@suzumio/contract/operations/configs';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { withoutSecretValues } from '@suzumio/core/config/agent-env';
import { compareConfigs } from '@suzumio/core/config/compare-configs';
import { withoutTaken } from '@suzumio/core/config/local-toolpacks';
import { listVersions, readVersion, withVariables } from '@suzumio/store/projects/config-versions';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { hasVersions } from '@suzumio/store/sqlite/configs';
import type { Runs } from '../routes.js';
import { fileOf } from './stored-file.js';

export const configRuns: Runs<typeof configs> = {
  listConfigVersions: (call) => call.read((reader) => listVersions(reader, call.query)),

  getConfigVersion: (call) =>
    call.withProject(async (store) => {
      const version = versionOf(call.params.version);
      const view = readVersion(store.reader, version);
      const file = await fileOf(call.context.cell, store, version);
      const config = withoutSecretValues(configAt(store, version));
      if (!call.query.rendered) return { ...view, file, config };
      const { renderConfig } = await import('@suzumio/core/config/render-config');
      return { ...view, file, config, rendered: renderConfig(withoutTaken(config)) };
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
