import type { ConfigNode } from './config-node.js';
import type { Place, ProblemList } from './config-problem.js';
import { type Edit, EditedTree, isSameValue, nodeAt, placeOf } from './edit.js';
import { findKeys, isWithin } from './find-keys.js';
import type { Found, PublishedKey } from './published-key.js';
import { publishedKeys } from './published-keys.js';
import { describePath } from './schema-problems.js';

/** What makes a key of the published format one of this format. */
export interface Change {
  readonly place: Place;
  /** What the key is here, in a sentence. */
  readonly message: string;
  readonly edits: readonly Edit[];
  /** Whether it is about the file, and no key of it. */
  readonly isOfFile: boolean;
}

/** A file in this format. */
export interface Translation {
  readonly root: ConfigNode;
  readonly changes: readonly Change[];
}

/**
 * Brings the keys of the published format in a tree into this one: other names and forms are replaced, keys without an
 * effect here are removed with a note, and what cannot be honoured is a problem. A tree that has none stays as it is.
 *
 * @param offered the tools of its local toolpacks, where these were read
 */
export function translate(
  root: ConfigNode,
  problems: ProblemList,
  notes: ProblemList,
  offered?: readonly string[],
): Translation {
  const translator = new Translator(root, problems, notes, offered);
  translator.apply(publishedKeys.filter(({ foreignOnly }) => foreignOnly !== true));
  // Some keys are of both formats, and mean something else where a file is of the published one.
  if (translator.isForeign) translator.apply(publishedKeys);
  return { root: translator.root, changes: translator.changes };
}

/** Whether variables in a field are not looked up, because its value is not used. */
export function isUnread(path: Found['path']): boolean {
  return unread.some((pattern) => isWithin(path, pattern));
}

const unread = publishedKeys.filter((key) => key.unread === true).map(({ path }) => path);

class Translator {
  readonly changes: Change[] = [];
  isForeign = false;
  readonly #tree: EditedTree;

  constructor(
    root: ConfigNode,
    private readonly problems: ProblemList,
    private readonly notes: ProblemList,
    private readonly offered: readonly string[] | undefined,
  ) {
    this.#tree = new EditedTree(root);
  }

  get root(): ConfigNode {
    return this.#tree.root;
  }

  apply(keys: readonly PublishedKey[]): void {
    for (const key of keys) {
      if (key.meaning === 'same') continue;
      for (const found of findKeys(this.root, key.path, this.offered)) this.#take(key, found);
    }
  }

  #take(key: PublishedKey, found: Found): void {
    if (key.when !== undefined && !key.when(found)) return;
    if (key.ours !== true && key.foreignOnly !== true) this.isForeign = true;
    const place = placeFor(key, found);
    const message = messageFor(key, found);
    const field = describePath(found.path);
    if (key.meaning === 'refused') {
      this.problems.add(key.code ?? 'key-refused', place, message, field);
      this.#tree.break(found.path);
      return;
    }
    if (key.meaning === 'note' && key.asksNothing?.(found) !== true) {
      this.notes.add('key-without-effect', place, message, field === '' ? undefined : field);
    }
    const edits = key.instead?.(found) ?? [{ remove: found.path }];
    const from = placeOf(this.root, found.path);
    for (const edit of edits) {
      if ('move' in edit) this.#refuseContradiction(edit.move, edit.to, from);
      this.#tree.apply(edit, from);
    }
    this.changes.push({ place, message, edits, isOfFile: found.path.length === 0 });
  }

  #refuseContradiction(from: Found['path'], to: Found['path'], place: Place): void {
    const [one, other] = [nodeAt(this.root, from), nodeAt(this.root, to)];
    if (one === undefined || other === undefined || isSameValue(one, other)) return;
    const { line, column } = placeOf(this.root, to);
    const names = `${describePath(from)} and ${describePath(to)} (line ${line}, column ${column})`;
    const message = `${names} are two names of one field, and say two things: leave one of them out`;
    this.problems.add('keys-contradict', place, message, describePath(from));
  }
}

/** A value that is the matter has its own place; else the key has it. */
function placeFor(key: PublishedKey, { root, path, node }: Found): Place {
  if (key.at !== undefined) return placeOf(root, [...path, ...key.at]);
  const isValue = key.values !== undefined && node.kind === 'scalar';
  return isValue ? node.place : placeOf(root, path);
}

function messageFor(key: PublishedKey, found: Found): string {
  const { path, value } = found;
  const entry = typeof path.at(-1) === 'number' && typeof value === 'string' ? ` (${value})` : '';
  const field = `${describePath(path)}${entry}`;
  const right = key.right === undefined ? '' : `: write ${key.right(found)}`;
  const is = key.meaning === 'alias' ? 'here it is ' : '';
  return `${field === '' ? '' : `${field}: `}${is}${key.here}${right}`;
}
