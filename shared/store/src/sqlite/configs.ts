import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type ProjectConfig, projectConfig } from '@suzumio/contract/model/project-config';
import type { SqlReader } from './sql.js';

/** The project's resolved file, as it is now and as it was. */
export interface ConfigVersions {
  /** The newest version. */
  readonly config: ProjectConfig;
  /** @throws SuzumioError `config-version-unknown` */
  configAt(version: number): ProjectConfig;
}

/** How many parsed versions are kept: the newest, and those that turns run with. */
const mostParsed = 4;

interface MarkRow {
  number: number;
  mark: string;
}

/**
 * Parses the versions of one project's file, each once. A version is recognised by its mark: a number may be given again
 * where a transaction was rolled back.
 */
export class Configs {
  readonly #parsed = new Map<string, ProjectConfig>();
  #hasVersions = false;

  newest(reader: SqlReader): ProjectConfig {
    const newest = this.#newestMark(reader);
    return this.#config(newest?.mark ?? '', () => newestJson(reader));
  }

  /** @throws SuzumioError `config-version-unknown` */
  at(reader: SqlReader, version: number): ProjectConfig {
    const row = reader.get<MarkRow>('SELECT number, mark FROM config_versions WHERE number = :version', { version });
    if (!row) throw unknownVersion(reader, version);
    return this.#config(row.mark, () => jsonAt(reader, version));
  }

  /** Undefined in a database of before, which is read without being brought up to date. */
  #newestMark(reader: SqlReader): MarkRow | undefined {
    this.#hasVersions ||= hasVersions(reader);
    if (!this.#hasVersions) return undefined;
    return reader.get<MarkRow>('SELECT number, mark FROM config_versions ORDER BY number DESC LIMIT 1');
  }

  #config(mark: string, json: () => string): ProjectConfig {
    const config = this.#parsed.get(mark) ?? projectConfig.parse(JSON.parse(json()));
    // Last in the order, which begins with what was not used for the longest time.
    this.#parsed.delete(mark);
    this.#parsed.set(mark, config);
    const [oldest] = this.#parsed.keys();
    if (this.#parsed.size > mostParsed && oldest !== undefined) this.#parsed.delete(oldest);
    return config;
  }
}

/** The number of the newest version. */
export function newestVersion(reader: SqlReader): number {
  return reader.get<{ number: number }>('SELECT max(number) AS number FROM config_versions')?.number ?? 1;
}

/** Whether a database has versions of its file. One of before that is only read has none. */
export function hasVersions(reader: SqlReader): boolean {
  return reader.get(`SELECT 1 FROM sqlite_schema WHERE name = 'config_versions'`) !== undefined;
}

export function unknownVersion(reader: SqlReader, version: number): SuzumioError {
  const newest = hasVersions(reader) ? newestVersion(reader) : 1;
  return new SuzumioError(
    'config-version-unknown',
    `There is no version ${String(version)} of this project's file; the newest is ${String(newest)}.`,
    { version, newest },
  );
}

function newestJson(reader: SqlReader): string {
  const row = reader.get<{ json: string }>('SELECT config_json AS json FROM projects');
  if (row) return row.json;
  throw new SuzumioError('store-corrupt', 'The project database has no project in it.');
}

function jsonAt(reader: SqlReader, version: number): string {
  const sql = 'SELECT config_json AS json FROM config_versions WHERE number = :version';
  const row = reader.get<{ json: string }>(sql, { version });
  if (row) return row.json;
  throw unknownVersion(reader, version);
}
