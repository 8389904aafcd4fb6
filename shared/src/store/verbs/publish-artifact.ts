import type { Tx } from '../tx.js';

export interface NewArtifact {
  /** The agent that published it, or `user`. */
  creator: string;
  /** Who did it: the name of the token that a person used. @default the creator */
  actor?: string;
  turn?: string | undefined;
  name: string;
  /** The stored file, relative to the project's directory; it is durable already. */
  path: string;
  workspacePath?: string | undefined;
  sha256: string;
  sizeBytes: number;
  description?: string | undefined;
}

/** Registers a file that is already in the content store. */
export function publishArtifact(tx: Tx, artifact: NewArtifact): { id: string } {
  const id = tx.newId('art');
  tx.insert('artifacts', {
    id,
    creator: artifact.creator,
    turn_id: artifact.turn ?? null,
    name: artifact.name,
    path: artifact.path,
    workspace_path: artifact.workspacePath ?? null,
    sha256: artifact.sha256,
    size_bytes: artifact.sizeBytes,
    description: artifact.description ?? null,
    created_at_ms: tx.nowMs,
  });
  tx.emit({
    type: 'artifact.published',
    actor: artifact.actor ?? artifact.creator,
    agent: artifact.turn === undefined ? undefined : artifact.creator,
    turn: artifact.turn,
    data: { artifact: id, name: artifact.name, sizeBytes: artifact.sizeBytes, sha256: artifact.sha256 },
  });
  return { id };
}
