import type { ArtifactKind } from '@suzumio/protocol/artifacts';
import { noteEffect } from '../protection/watch.js';
import type { Tx } from '../sqlite/tx.js';

export interface NewArtifact {
  /** The agent that published it, or `user`. */
  creator: string;
  /** The actor: the name of the token that a person used. @default the creator */
  actor?: string;
  turn?: string | undefined;
  name: string;
  /** The stored file, relative to the project's directory; it is durable already. */
  path: string;
  workspacePath?: string | undefined;
  sha256: string;
  /** Its size in bytes; for a directory, the sum of its files. */
  sizeBytes: number;
  /** For a directory, whose content is its manifest: the number of its files, and their hashes. */
  directory?: { files: number; contents: readonly string[] } | undefined;
  description?: string | undefined;
  /** The commit that a patch is against. */
  base?: string | undefined;
}

/** Registers a file, or a directory, that is already in the content store. */
export function publishArtifact(tx: Tx, artifact: NewArtifact): { id: string } {
  const id = tx.newId('art');
  const { directory } = artifact;
  const kind: ArtifactKind = directory ? 'directory' : 'file';
  const files = directory?.files ?? 1;
  tx.insert('artifacts', {
    id,
    creator: artifact.creator,
    turn_id: artifact.turn ?? null,
    name: artifact.name,
    path: artifact.path,
    workspace_path: artifact.workspacePath ?? null,
    sha256: artifact.sha256,
    size_bytes: artifact.sizeBytes,
    kind,
    files,
    description: artifact.description ?? null,
    base_commit: artifact.base ?? null,
    created_at_ms: tx.nowMs,
  });
  if (directory) {
    tx.run('INSERT OR IGNORE INTO directory_contents (sha256) SELECT value FROM json_each(:contents)', {
      contents: JSON.stringify(directory.contents),
    });
  }
  tx.emit({
    type: 'artifact.published',
    actor: artifact.actor ?? artifact.creator,
    agent: artifact.turn === undefined ? undefined : artifact.creator,
    turn: artifact.turn,
    data: { artifact: id, name: artifact.name, kind, files, sizeBytes: artifact.sizeBytes, sha256: artifact.sha256 },
  });
  if (artifact.turn !== undefined) noteEffect(tx, artifact.creator);
  return { id };
}
