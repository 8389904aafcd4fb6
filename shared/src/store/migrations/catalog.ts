import type { Migration } from '../migrate.js';

/** The schema of the catalog. What it says of projects is an index: each project's own database decides. */
export const catalogMigrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL,
  settled INTEGER NOT NULL DEFAULT 0,
  created_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_unsettled ON projects (id) WHERE settled = 0;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin', 'handler')),
  project TEXT,
  hash TEXT NOT NULL UNIQUE,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  service TEXT NOT NULL,
  cell TEXT NOT NULL,
  transport TEXT NOT NULL,
  host TEXT NOT NULL,
  serving_since_ms INTEGER NOT NULL,
  beat_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
  },
];
