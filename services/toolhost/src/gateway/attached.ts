import { isShallow } from '@suzumio/protocol/nesting';

// What a provider attaches to an answer has to come back with it: signatures, and thoughts that it goes on from. It is kept
// as it came, for that model at that endpoint alone, and nothing but these fields.

/** Texts that streams send in pieces. */
const texts = ['reasoning_content', 'reasoning', 'reasoning_text'];
/** Texts that come whole. */
const marks = ['thought_signature', 'thoughtSignature', 'signature', 'reasoning_signature', 'reasoning_opaque'];
const objects = ['extra_content', 'provider_specific_fields'];
const lists = ['reasoning_details', 'thinking_blocks'];

/** Fields by their names, where they came. */
export type Fields = Record<string, unknown>;

/** What was attached to an answer, as it is stored. */
export interface Attached {
  message?: Fields;
  calls?: AttachedToCall[];
  items?: AttachedItem[];
}

interface AttachedToCall {
  /** The call's id in the answer. */
  id: string;
  call?: Fields;
  function?: Fields;
}

/** An item of an answer in the Responses format, in its position: thoughts as they came, of others what names them. */
export type AttachedItem =
  | { type: 'reasoning'; fields: Fields }
  | { type: 'message'; fields: Fields }
  | { type: 'function_call'; call: string; fields: Fields };

/** The most that is kept of an answer, in bytes of JSON. What is longer is dropped as a whole. */
export const maxAttachedBytes = 256 * 1024;

/** How much of an answer's attachments there is, message and calls together. */
export class AttachedSize {
  #chars = 0;
  #isTooMuch = false;

  get chars(): number {
    return this.#chars;
  }

  /** Whether they are longer or deeper than what is kept. */
  get isTooMuch(): boolean {
    return this.#isTooMuch;
  }

  add(chars: number): void {
    this.#chars += chars;
    this.#isTooMuch ||= this.#chars > maxAttachedBytes;
  }

  /** Whether a value may be kept. One that is too deep spoils the rest. */
  takes(value: unknown): boolean {
    this.#isTooMuch ||= !isShallow(value);
    return !this.#isTooMuch;
  }
}

/** What is attached to one message or call. Chunks cost what they bring, however much there is. */
export class AttachedFields {
  readonly #texts = new Map<string, string>();
  readonly #objects = new Map<string, { value: Fields; last: string }>();
  readonly #lists = new Map<string, EntryList>();
  /** What each field counts. */
  readonly #chars = new Map<string, number>();

  constructor(private readonly size: AttachedSize) {}

  /** The fields so far; undefined where there are none. */
  get all(): Fields | undefined {
    const fields: (readonly [string, unknown])[] = [
      ...this.#texts,
      ...[...this.#objects].map(([name, { value }]) => [name, value] as const),
      ...[...this.#lists].map(([name, { entries }]) => [name, entries] as const),
    ];
    return fields.length === 0 ? undefined : Object.fromEntries(fields);
  }

  /** Adds what a chunk brings: pieces of texts and lists, or what replaces what was there. Other types are ignored. */
  add(part: Fields): void {
    for (const name of [...texts, ...marks]) {
      const sent = part[name];
      if (!isText(sent) || !this.size.takes(sent)) continue;
      const before = this.#texts.get(name) ?? '';
      this.#texts.set(name, marks.includes(name) ? sent : before + sent);
      this.#count(name, marks.includes(name) ? sent.length - before.length : sent.length);
    }
    for (const name of objects) {
      const sent = part[name];
      if (!isObject(sent) || !this.size.takes(sent)) continue;
      const json = JSON.stringify(sent);
      const known = this.#objects.get(name);
      if (known?.last === json) continue;
      this.#objects.set(name, { value: merged(known?.value ?? {}, sent), last: json });
      this.#count(name, json.length);
    }
    for (const name of lists) {
      const sent = part[name];
      if (!isList(sent) || !this.size.takes(sent)) continue;
      const list = this.#lists.get(name) ?? new EntryList();
      this.#lists.set(name, list);
      for (const [at, entry] of sent.entries()) this.#count(name, list.add(entry, at === 0));
    }
  }

  /** Takes what a whole message has, which repeats all chunks. */
  replace(whole: Fields): void {
    const names = [...texts, ...marks, ...objects, ...lists].filter((name) => isAny(whole[name]));
    for (const name of names) {
      this.#count(name, -(this.#chars.get(name) ?? 0));
      for (const fields of [this.#texts, this.#objects, this.#lists]) fields.delete(name);
    }
    this.add(whole);
  }

  #count(name: string, chars: number): void {
    this.#chars.set(name, (this.#chars.get(name) ?? 0) + chars);
    this.size.add(chars);
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isPlain = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isObject = (value: unknown): value is Fields => isPlain(value) && Object.keys(value).length > 0;
const isList = (value: unknown): value is Fields[] => Array.isArray(value) && value.length > 0 && value.every(isPlain);
const isAny = (value: unknown) => isText(value) || isObject(value) || isList(value);

/** Writes into an object what another adds to it, or replaces. */
function merged(into: Fields, more: Fields): Fields {
  for (const [name, value] of Object.entries(more)) {
    const known = Object.hasOwn(into, name) ? into[name] : undefined;
    const both = isPlain(value) ? merged(isPlain(known) ? known : {}, value) : value;
    // An assignment to `__proto__` would be none.
    Object.defineProperty(into, name, { value: both, enumerable: true, writable: true, configurable: true });
  }
  return into;
}

/** Fields of an entry that streams send in pieces. */
const pieces = new Set(['text', 'summary', 'data', 'thinking']);

/** A list whose entries come whole, or in pieces that have their index. */
class EntryList {
  readonly #entries: { fields: Fields; texts: Map<string, PiecedText> }[] = [];
  /** The newest entries, by index and type. */
  readonly #open = new Map<string, number>();

  get entries(): Fields[] {
    return this.#entries.map(({ fields, texts: pieced }) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, pieced.get(name)?.text ?? value])),
    );
  }

  /**
   * Adds an entry, or a piece of one. Returns how much longer the list is then.
   *
   * @param isFirst whether it is the first of its chunk, and so may continue the last one before
   */
  add(sent: Fields, isFirst: boolean): number {
    const slot = JSON.stringify([sent['index'], sent['type']]);
    const isIndexed = typeof sent['index'] === 'number';
    const at = isIndexed ? this.#open.get(slot) : isFirst ? this.#unsigned(sent) : undefined;
    let entry = at === undefined ? undefined : this.#entries[at];
    const id = entry?.fields['id'];
    if (!entry || (id && sent['id'] && id !== sent['id'])) {
      entry = { fields: {}, texts: new Map() };
      if (isIndexed) this.#open.set(slot, this.#entries.length);
      this.#entries.push(entry);
    }
    return 1 + grow(entry, sent);
  }

  /** The position of the last entry, where a piece without an index continues it: a signature ends a thought. */
  #unsigned({ type }: Fields): number | undefined {
    const last = this.#entries.at(-1)?.fields;
    if (!last || last['type'] !== type || !isThought(type)) return undefined;
    return last['signature'] || last['index'] !== undefined ? undefined : this.#entries.length - 1;
  }
}

const isThought = (type: unknown) => ['thinking', 'reasoning.text', 'reasoning.summary'].includes(String(type));

function grow({ fields, texts: pieced }: { fields: Fields; texts: Map<string, PiecedText> }, piece: Fields): number {
  let more = 0;
  for (const [name, value] of Object.entries(piece)) {
    const before = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const says = value !== null && value !== before;
    if (pieces.has(name) && typeof value === 'string') {
      const text = pieced.get(name) ?? new PiecedText();
      pieced.set(name, text);
      more += text.add(value);
    } else if (says) more += name.length + JSON.stringify(value).length;
    if (says || before === undefined) {
      Object.defineProperty(fields, name, { value, enumerable: true, writable: true, configurable: true });
    }
  }
  return more;
}

/** A text from its pieces. Some servers send all that there is so far as each next one: three of them in a row show it. */
class PiecedText {
  text = '';
  #last = '';
  #grown = 0;

  /** Returns how much longer the text is then. */
  add(piece: string): number {
    const before = this.text.length;
    const grows = piece.length > this.#last.length && piece.startsWith(this.#last);
    const wasWhole = this.#grown >= 3;
    this.#grown = grows && (this.#grown > 0 || before === 0) ? this.#grown + 1 : 0;
    this.text = this.#grown >= 3 ? piece : wasWhole && piece === this.#last ? this.text : this.text + piece;
    this.#last = piece;
    return this.text.length - before;
  }
}
