/**
 * Stored bytes of a project, by owner. Triggers charge rows, whatever writes them: a row counts as the size of its
 * texts and 128 bytes for the rest. Inputs of turns are charged to the project alone, since others wrote them.
 */
const rowBytes = 128;

const add = (owner: string, kind: string, bytes: string) => `
  INSERT INTO stored_bytes (owner, kind, bytes) VALUES (${owner}, ${kind}, ${bytes}), ('', ${kind}, ${bytes})
  ON CONFLICT (owner, kind) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes;`;

const textBytes = (row: string, columns: readonly string[]) =>
  columns.map((column) => `coalesce(octet_length(${row}${column}), 0)`).join(' + ');

interface ChargedTable {
  table: string;
  /** A row's owner, as an expression over its columns, which are prefixed with `row`. */
  owner: (row: string) => string;
  texts: readonly string[];
  /** Columns that an update fills. */
  later?: readonly string[];
}

const agentOfTurn = (row: string) => `(SELECT agent_id FROM turns WHERE turns.id = ${row}turn_id)`;

const charged: readonly ChargedTable[] = [
  { table: 'messages', owner: (row) => `${row}sender`, texts: ['body'] },
  { table: 'tool_calls', owner: (row) => `${row}agent_id`, texts: ['input_json'], later: ['output_json'] },
  { table: 'turn_steps', owner: agentOfTurn, texts: ['result_json'] },
  { table: 'model_calls', owner: (row) => `${row}agent_id`, texts: [] },
  { table: 'artifacts', owner: (row) => `${row}creator`, texts: ['name', 'workspace_path', 'description'] },
  { table: 'directory_contents', owner: () => `'system'`, texts: ['sha256'] },
  { table: 'events', owner: (row) => `coalesce(${row}agent_id, 'system')`, texts: ['data_json'] },
];

const byTable = charged.map(({ table, owner, texts, later = [] }) => {
  const size = (row: string, columns: readonly string[]) =>
    columns.length === 0 ? String(rowBytes) : `${String(rowBytes)} + ${textBytes(row, columns)}`;
  return `
CREATE TRIGGER ${table}_charged AFTER INSERT ON ${table} BEGIN${add(owner('NEW.'), `'rows'`, size('NEW.', [...texts, ...later]))}
END;
${
  later.length === 0
    ? ''
    : `CREATE TRIGGER ${table}_charged_later AFTER UPDATE OF ${later.join(', ')} ON ${table} BEGIN${add(
        owner('NEW.'),
        `'rows'`,
        `${textBytes('NEW.', later)} - (${textBytes('OLD.', later)})`,
      )}
END;`
}
INSERT INTO stored_bytes (owner, kind, bytes)
  SELECT ${owner(`${table}.`)} AS owner, 'rows', sum(${size('', [...texts, ...later])}) FROM ${table} GROUP BY 1
  ON CONFLICT (owner, kind) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes;`;
});

/** Columns of `turns`, which an update fills, and their owners. */
const ofTurns = [
  { name: 'told', owner: (_row: string) => `'system'`, columns: ['prompt', 'input_json'] },
  { name: 'said', owner: (row: string) => `${row}agent_id`, columns: ['output_text', 'usage_json'] },
].map(
  ({ name, owner, columns }) => `
CREATE TRIGGER turns_${name}_charged AFTER UPDATE OF ${columns.join(', ')} ON turns BEGIN${add(
    owner('NEW.'),
    `'rows'`,
    `${textBytes('NEW.', columns)} - (${textBytes('OLD.', columns)})`,
  )}
END;
INSERT INTO stored_bytes (owner, kind, bytes)
  SELECT ${owner('')} AS owner, 'rows', sum(${textBytes('', columns)}) FROM turns GROUP BY 1
  ON CONFLICT (owner, kind) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes;`,
);

/** Existing rows are charged here; other files, by the next content collection. */
export const storedBytesSql = `
CREATE TABLE stored_bytes (
  -- Empty for the project: the sum of all.
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (owner, kind)
) STRICT, WITHOUT ROWID;

-- Whose each file is, under its hash: whoever stored it first.
CREATE TABLE stored_content (
  sha256 TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  size_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER stored_content_charged AFTER INSERT ON stored_content BEGIN${add('NEW.owner', 'NEW.kind', 'NEW.size_bytes')}
END;
CREATE TRIGGER stored_content_given_back AFTER DELETE ON stored_content BEGIN
  UPDATE stored_bytes SET bytes = bytes - OLD.size_bytes WHERE owner IN (OLD.owner, '') AND kind = OLD.kind;
END;
${byTable.join('\n')}
${ofTurns.join('\n')}
INSERT INTO stored_bytes (owner, kind, bytes) SELECT '', kind, sum(bytes) FROM stored_bytes GROUP BY kind;
INSERT OR IGNORE INTO stored_content (sha256, owner, kind, size_bytes)
  SELECT sha256, creator, CASE creator WHEN 'user' THEN 'uploads' ELSE 'content' END, size_bytes FROM artifacts
  WHERE kind = 'file' ORDER BY seq;
`;

const charge = (row: string) => `max(1, (${row}size_bytes + 4095) / 4096) * 4096`;
const more = `sum(${charge('')} - size_bytes)`;

/** Files are charged in whole blocks, one at least. Those that are there are charged anew here; logs, by the next content collection. */
export const chargedBlocksSql = `
DROP TRIGGER stored_content_charged;
DROP TRIGGER stored_content_given_back;
CREATE TRIGGER stored_content_charged AFTER INSERT ON stored_content BEGIN${add('NEW.owner', 'NEW.kind', charge('NEW.'))}
END;
CREATE TRIGGER stored_content_given_back AFTER DELETE ON stored_content BEGIN
  UPDATE stored_bytes SET bytes = bytes - ${charge('OLD.')} WHERE owner IN (OLD.owner, '') AND kind = OLD.kind;
END;
UPDATE stored_bytes SET bytes = bytes + found.more FROM (
  SELECT owner, kind, ${more} AS more FROM stored_content GROUP BY owner, kind
  UNION ALL SELECT '', kind, ${more} FROM stored_content GROUP BY kind
) AS found WHERE found.owner = stored_bytes.owner AND found.kind = stored_bytes.kind;
`;

/** Texts that are shortened later, which they never were before: those that a redaction rewrites. */
const shortened: Readonly<Record<string, readonly string[]>> = {
  messages: ['body'],
  tool_calls: ['input_json'],
  turn_steps: ['result_json'],
  artifacts: ['workspace_path', 'description'],
  events: ['data_json'],
};

const shortenedByTable = charged.map(({ table, owner }) => {
  const columns = shortened[table] ?? [];
  if (columns.length === 0) return '';
  return `
CREATE TRIGGER ${table}_charged_less AFTER UPDATE OF ${columns.join(', ')} ON ${table} BEGIN${add(
    owner('NEW.'),
    `'rows'`,
    `${textBytes('NEW.', columns)} - (${textBytes('OLD.', columns)})`,
  )}
END;`;
});

export const redactionSql = `
ALTER TABLE messages ADD COLUMN redacted_json TEXT;
ALTER TABLE artifacts ADD COLUMN redacted_json TEXT;
ALTER TABLE projects ADD COLUMN wipes_due INTEGER NOT NULL DEFAULT 0;
${shortenedByTable.join('')}
`;

/** JSON `null` stands for what is no longer there. */
export const attachedSql = `
ALTER TABLE turn_steps ADD COLUMN answered_by TEXT;
ALTER TABLE turn_steps ADD COLUMN attached_json TEXT;
CREATE TRIGGER turn_steps_attached AFTER INSERT ON turn_steps WHEN NEW.attached_json IS NOT NULL BEGIN${add(
  agentOfTurn('NEW.'),
  `'rows'`,
  textBytes('NEW.', ['attached_json']),
)}
END;
CREATE TRIGGER turn_steps_attached_less AFTER UPDATE OF attached_json ON turn_steps BEGIN${add(
  agentOfTurn('NEW.'),
  `'rows'`,
  `${textBytes('NEW.', ['attached_json'])} - (${textBytes('OLD.', ['attached_json'])})`,
)}
END;
`;
