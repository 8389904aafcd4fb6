import type { ArtifactKind } from '@suzumio/protocol/artifacts';
import { type ArtifactSeen, maxBytesSeen, maxFilesSeen, maxNamesSeen } from '@suzumio/protocol/artifacts-directory';
import type { SqlReader } from '../sqlite/sql.js';

/** An artifact that an agent finds as files, and how many these are. */
export interface SeenArtifact extends ArtifactSeen {
  files: number;
}

/** The newest artifacts of others, as an agent finds them. */
export interface OthersSeen {
  /** By creator and name. */
  artifacts: SeenArtifact[];
  /** Whether there are more than an agent is given as files. */
  more: boolean;
}

export interface SeenBounds {
  names: number;
  files: number;
  bytes: number;
}

const usualBounds: SeenBounds = { names: maxNamesSeen, files: maxFilesSeen, bytes: maxBytesSeen };

interface Row {
  seq: number;
  creator: string;
  name: string;
  kind: ArtifactKind;
  files: number;
  sha256: string;
  size_bytes: number;
  redacted: number;
}

/** No name comes after it. */
const lastName = '\u{10ffff}';

/**
 * The newest version of each name by each other creator, as they were when `upTo` was the newest artifact. Names whose newest
 * version was redacted are left out. Each creator has the same share of names, the first of its own, so that one with very
 * many hides nothing of the others. Where files are too many or too large, the newest are taken. Earlier versions are not
 * looked at.
 */
export function othersSeen(
  reader: SqlReader,
  { agent, upTo }: { agent: string; upTo: number },
  bounds = usualBounds,
): OthersSeen {
  const found: Row[] = [];
  let more = false;
  let at = { creator: '', name: '' };
  const creators = reader.get<{ n: number }>('SELECT count(*) AS n FROM agents')?.n ?? 1;
  const share = Math.max(1, Math.floor(bounds.names / creators));
  const taken = new Map<string, number>();
  while (upTo > 0) {
    const row = reader.get<Row>(
      `SELECT seq, creator, name, kind, files, sha256, size_bytes, redacted_json IS NOT NULL AS redacted FROM artifacts
       WHERE (creator, name) > (:creator, :name) AND +seq <= :upTo ORDER BY creator, name, seq DESC LIMIT 1`,
      { ...at, upTo },
    );
    if (!row) break;
    const { creator, name } = row;
    at = creator === agent ? { creator, name: lastName } : { creator, name };
    if (creator === agent || row.redacted === 1) continue;
    const ofCreator = (taken.get(creator) ?? 0) + 1;
    if (ofCreator > share) {
      more = true;
      at = { creator, name: lastName };
      continue;
    }
    taken.set(creator, ofCreator);
    found.push(row);
  }
  const room = { files: bounds.files, bytes: bounds.bytes };
  const fitting = new Set<Row>();
  for (const row of found.toSorted((a, b) => b.seq - a.seq)) {
    const files = Math.max(row.files, 1);
    if (files > room.files || row.size_bytes > room.bytes) continue;
    room.files -= files;
    room.bytes -= row.size_bytes;
    fitting.add(row);
  }
  const artifacts = found
    .filter((row) => fitting.has(row))
    .map(({ creator, name, kind, sha256, size_bytes: sizeBytes, files }) => ({
      creator,
      name,
      kind,
      sha256,
      sizeBytes,
      files,
    }));
  return { artifacts, more: more || fitting.size < found.length };
}
