import { hasVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The content of a project's local toolpacks, by their ids: of every version of its file, which may come back. */
export function toolpackContents(reader: SqlReader): { id: string; sha256: string }[] {
  return reader.all(
    `SELECT DISTINCT pack.value ->> '$.id' AS id, pack.value ->> '$.taken.sha256' AS sha256
     FROM ${hasVersions(reader) ? 'config_versions' : 'projects'} CROSS JOIN json_each(config_json, '$.tools.toolpacks') AS pack
     WHERE pack.type = 'object' AND pack.value ->> '$.taken.sha256' IS NOT NULL`,
  );
}
