import { type Document, isMap, isScalar, isSeq, Pair, parseDocument, Scalar, YAMLMap, type YAMLSeq } from 'yaml';
import type { ConfigPath, PathSegment } from './config-node.js';
import type { Edit, NewValue } from './edit.js';
import { type Inlining, writeOutAliases, writeOutParts } from './inline-document.js';

/**
 * A file's text with changes made. Comments stay, those of what goes excepted; aliases are written out.
 *
 * @param inlining how imports and `extends` are written out, so that paths in the file are those of the merged one;
 *   undefined leaves them as they are
 */
export function editedDocument(text: string, edits: readonly Edit[], inlining: Inlining | undefined): string {
  const document = parseDocument(text);
  writeOutAliases(document);
  if (inlining) writeOutParts(document, inlining);
  const editor = new DocumentEditor(document);
  for (const edit of edits) editor.apply(edit);
  // The one error that a valid file has is an import without quotes, which are written now.
  document.errors = [];
  return document.toString({ lineWidth: 0 });
}

type YamlNode = YAMLMap | YAMLSeq | Scalar;

class DocumentEditor {
  constructor(private readonly document: Document) {}

  apply(edit: Edit): void {
    if ('remove' in edit) this.#remove(edit.remove);
    else if ('set' in edit) this.#set(edit.set, edit.value);
    else if ('append' in edit) this.#append(edit.append, edit.value);
    else this.#move(edit.move, edit.to);
  }

  #remove(path: ConfigPath): void {
    const parent = this.#nodeAt(path.slice(0, -1));
    const last = path.at(-1);
    if (isSeq(parent)) parent.items.splice(Number(last), 1);
    if (!isMap(parent) || last === undefined) return;
    parent.items = parent.items.filter((pair) => keyOf(pair) !== String(last));
    // A section that says nothing any more goes, too; an agent stays.
    if (parent.items.length === 0 && path.length > 1 && path[0] !== 'agents') this.#remove(path.slice(0, -1));
  }

  #move(from: ConfigPath, to: ConfigPath): void {
    const pair = this.#pairAt(from);
    if (pair === undefined) return;
    const stands = this.#pairAt(to) !== undefined;
    const isBeside = from.length === to.length && from.slice(0, -1).every((segment, index) => segment === to[index]);
    if (isBeside && !stands) {
      rename(pair, String(to.at(-1)));
      return;
    }
    this.#remove(from);
    if (stands) return;
    rename(pair, String(to.at(-1)));
    this.#mapAt(to.slice(0, -1)).items.push(pair);
  }

  #set(path: ConfigPath, value: NewValue): void {
    const parent = this.#nodeAt(path.slice(0, -1));
    const node = this.#nodeAt(path);
    if (isScalar(node) && typeof value === 'string') {
      node.value = value;
      delete node.type;
      delete node.source;
    } else if (isSeq(parent)) {
      parent.items[Number(path.at(-1))] = this.document.createNode(value);
    } else {
      const present = this.#pairAt(path);
      const made = this.document.createNode(value);
      if (present) present.value = made;
      else this.#mapAt(path.slice(0, -1)).items.push(new Pair(new Scalar(String(path.at(-1))), made));
    }
  }

  #append(path: ConfigPath, value: string): void {
    const node = this.#nodeAt(path);
    if (isSeq(node)) node.items.push(this.document.createNode(value));
    else this.#set(path, [value]);
  }

  /** The map at a path, made where there is none. */
  #mapAt(path: ConfigPath): YAMLMap {
    const present = this.#nodeAt(path);
    if (isMap(present)) return present;
    const made = new YAMLMap(this.document.schema);
    const last = path.at(-1);
    if (last === undefined) return made;
    this.#mapAt(path.slice(0, -1)).items.push(new Pair(new Scalar(String(last)), made));
    return made;
  }

  #pairAt(path: ConfigPath): Pair | undefined {
    const parent = this.#nodeAt(path.slice(0, -1));
    return isMap(parent) ? parent.items.find((pair) => keyOf(pair) === String(path.at(-1))) : undefined;
  }

  #nodeAt(path: ConfigPath): YamlNode | undefined {
    let node = this.document.contents as unknown;
    for (const segment of path) node = this.#child(node, segment);
    return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined;
  }

  #child(node: unknown, segment: PathSegment): unknown {
    if (isSeq(node)) return node.items[Number(segment)];
    return isMap(node) ? node.items.find((one) => keyOf(one) === String(segment))?.value : undefined;
  }
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? (key.source ?? String(key.value)) : String(key);
}

/** Another name, with the comments of the one before. */
function rename(pair: Pair, name: string): void {
  if (isScalar(pair.key)) {
    pair.key.value = name;
    delete pair.key.source;
    delete pair.key.type;
  } else {
    pair.key = new Scalar(name);
  }
}
