const charge = (bytes: string) => `
  INSERT INTO stored_bytes (owner, kind, bytes) VALUES ('user', 'rows', ${bytes}), ('', 'rows', ${bytes})
  ON CONFLICT (owner, kind) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes;`;

/** Bytes of a row besides its texts, as all rows are charged. */
const rowBytes = 128;

/**
 * The versions of a project's file, the first of which every project has; the version that each turn runs with; values of
 * agents' variables by version; agents that were retired, and channels that were closed. What the first version takes is not
 * charged, as it never was.
 */
export const configVersionsSql = `
CREATE TABLE config_versions (
  number INTEGER PRIMARY KEY,
  -- No two that were ever written have the same, those among them that were rolled back.
  mark TEXT NOT NULL,
  -- The version whose values of variables it has.
  env_version INTEGER NOT NULL,
  -- The newest message when it was applied.
  message_seq INTEGER NOT NULL,
  -- The version that it brings back.
  reverts INTEGER,
  actor TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  -- How many fields it changed, and the first of them.
  changes INTEGER NOT NULL,
  changed_json TEXT NOT NULL,
  config_json TEXT NOT NULL,
  -- As it was given; null for the first, which is a file beside the database.
  source TEXT
) STRICT;
INSERT INTO config_versions (number, mark, env_version, message_seq, actor, created_at_ms, changes, changed_json, config_json)
  SELECT 1, lower(hex(randomblob(16))), 1, 0, coalesce((SELECT actor FROM events ORDER BY seq LIMIT 1), 'system'),
    created_at_ms, 0, '[]', config_json FROM projects;
CREATE TRIGGER config_versions_charged AFTER INSERT ON config_versions WHEN NEW.number > 1 BEGIN${charge(
  `${String(rowBytes)} + octet_length(NEW.config_json) + coalesce(octet_length(NEW.source), 0)`,
)}
END;

ALTER TABLE turns ADD COLUMN config_version INTEGER NOT NULL DEFAULT 1;

CREATE TABLE agent_env_by_version (
  version INTEGER NOT NULL,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (version, agent_id, name)
) STRICT, WITHOUT ROWID;
INSERT INTO agent_env_by_version SELECT 1, agent_id, name, value FROM agent_env;
DROP TABLE agent_env;
ALTER TABLE agent_env_by_version RENAME TO agent_env;
CREATE TRIGGER agent_env_charged AFTER INSERT ON agent_env WHEN NEW.version > 1 BEGIN${charge(
  `${String(rowBytes)} + octet_length(NEW.value)`,
)}
END;

-- The version that no longer has it; null for all others.
ALTER TABLE agents ADD COLUMN retired_version INTEGER;
ALTER TABLE channels ADD COLUMN closed INTEGER NOT NULL DEFAULT 0;
`;
