import { createHash } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { ManifestTooLong } from '@suzumio/protocol/workspace-manifest';
import { type KnownDirectory, manifestOf, partsOf } from './known-tree.js';
import type { Content } from './read-file.js';
import { WorkspaceTooLarge } from './workspace-errors.js';

/** Stores what a capture has and the last known content has not, once for each hash. */
export class NewContent {
  #stored: Set<string> | undefined;

  constructor(
    private readonly known: KnownDirectory | undefined,
    private readonly store: (content: Content) => Promise<void> | void,
  ) {}

  async add(content: Content): Promise<void> {
    if (this.#isNew(content.sha256)) await this.store(content);
    else discard(content);
  }

  /**
   * @returns the hash of the manifest
   * @throws WorkspaceTooLarge
   */
  async addManifest(directory: KnownDirectory): Promise<string> {
    const bytes = this.#manifestOf(directory);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await this.add({ sha256, sizeBytes: bytes.length, bytes });
    return sha256;
  }

  #manifestOf(directory: KnownDirectory): Uint8Array<ArrayBuffer> {
    try {
      return manifestOf(directory);
    } catch (error) {
      if (!(error instanceof ManifestTooLong)) throw error;
      throw new WorkspaceTooLarge(`A directory of the workspace ${error.message}.`);
    }
  }

  #isNew(sha256: string): boolean {
    this.#stored ??= new Set([...(this.known ? partsOf(this.known) : [])].map((part) => part.sha256 ?? ''));
    if (this.#stored.has(sha256)) return false;
    this.#stored.add(sha256);
    return true;
  }
}

/** Removes the staged copy of content that is not stored. */
export function discard(content: Content): void {
  if ('file' in content) unlinkSync(content.file);
}
