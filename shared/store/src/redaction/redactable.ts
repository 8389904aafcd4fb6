import type { Redaction, RedactionLeft } from '@suzumio/contract/model/redaction';
import type { Database, Tx } from '../sqlite/tx.js';
import type { SearchedRows } from './find-copies.js';

/** Who asks for a redaction, and why. */
export interface Asked {
  actor: string;
  because: string | null;
}

export interface Redacted {
  id: string;
  redacted: Redaction;
}

/** A message or an artifact whose content is to go. */
export interface Redactable {
  id: string;
  /** Where that was done before. */
  redacted: Redaction | null;
  /** One of these is in every row that holds a copy, or names it. */
  patterns: readonly string[];
  /** A text without the copies in it. */
  without: (text: string) => string;
  /** Removes what it has in files of its own, once it is redacted. */
  removeContent?: (store: Database, directory: string) => Promise<RedactionLeft[]>;
  /** Redacts it and its copies: one transaction. */
  redact: (tx: Tx, searched: SearchedRows, asked: Asked) => Redacted;
}
