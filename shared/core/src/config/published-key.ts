import type { ConfigNode, ConfigPath } from './config-node.js';
import type { ConfigProblemCode } from './config-problem.js';
import type { Edit } from './edit.js';

/**
 * What a key of the published format is here: `same`; `alias`, another name or form of something that is here; `note`,
 * accepted without the effect that it had there; `refused`.
 */
export type Meaning = 'same' | 'alias' | 'note' | 'refused';

/** A key of the published format, or some of its values: a row of the table in `docs/coming-from-suzumio.md`. */
export interface PublishedKey {
  /** Names, joined by dots; `*` is any name, `[]` an entry of a list. */
  readonly path: string;
  /** The values that the row is about, for people. @default all */
  readonly values?: string;
  readonly meaning: Meaning;
  /** What it is here: a sentence for the docs, for notes and for refusals. */
  readonly here: string;
  /** Whether a value is one that the row is about. @default all are */
  readonly when?: (found: Found) => boolean;
  /** Whether a value asks for nothing, so that nothing is said of it. @default none does */
  readonly asksNothing?: (found: Found) => boolean;
  /** What is written instead. @default a `note` goes with its key; else nothing changes */
  readonly instead?: (found: Found) => readonly Edit[];
  /** What a message adds: the line that would be right here. */
  readonly right?: (found: Found) => string;
  /** The place of the message, from the key on. @default the key, or the value where the row is about some values */
  readonly at?: ConfigPath;
  /** The code of a refusal. @default `key-refused` */
  readonly code?: ConfigProblemCode;
  /** Whether variables in it are not looked up, because their values are not used. */
  readonly unread?: true;
  /** Whether a file that has it may well be one of ours. */
  readonly ours?: true;
  /** Whether it holds only of files that have other keys of the published format. */
  readonly foreignOnly?: true;
}

/** A key that a file has. */
export interface Found {
  readonly path: ConfigPath;
  readonly node: ConfigNode;
  /** Its data. */
  readonly value: unknown;
  readonly root: ConfigNode;
  /** The tools of its local toolpacks, where these were read. */
  readonly offered: readonly string[] | undefined;
}
