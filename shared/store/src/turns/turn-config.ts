import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ConfigVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import { turnRow } from '../rows.js';

/**
 * The version of the project's file that a turn runs with: all its attempts have that of its prompt. Until there is a prompt,
 * it is the newest.
 *
 * @throws SuzumioError `turn-unknown`
 */
export function configOfTurn(reader: SqlReader, configs: ConfigVersions, turn: string): ProjectConfig {
  const { input_json: input, config_version: version } = turnRow(reader, turn);
  return input === null ? configs.config : configs.configAt(version);
}
