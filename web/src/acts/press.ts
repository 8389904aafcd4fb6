import { keyNames, keyOf, type KeyName } from './key-table.js';

/** What is told of a key that was pressed. */
interface Press {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const names = new Map<string, KeyName>(
  keyNames.filter((name) => keyOf(name).isLocal !== true).map((name) => [keyOf(name).press, name]),
);
const firsts = new Set([...names.keys()].filter((press) => press.includes(' ')).map((press) => press.split(' ')[0]));

/**
 * What is pressed, as the table writes it; nothing where that is no sign. Of other scripts the place of a key counts. The one
 * of Ctrl and ⌘ that is not the system's for such keys makes others, as Ctrl+K on a Mac, which cuts a line in fields.
 */
export function signOf(press: Press, isMac: boolean): string | undefined {
  const { key, code, altKey, shiftKey } = press;
  const [isWithCtrl, isOther] = isMac ? [press.metaKey, press.ctrlKey] : [press.ctrlKey, press.metaKey];
  if (key.length !== 1 || altKey || isOther) return undefined;
  const sign = /^[!-~]$/.test(key) ? key.toUpperCase() : /^Key([A-Z])$/.exec(code)?.[1];
  if (!isWithCtrl) return sign;
  return shiftKey || sign === undefined ? undefined : `Ctrl+${sign}`;
}

/** Whether a sign is pressed together with Ctrl, or with ⌘ on a Mac: it is none of two. */
export function isCtrl(sign: string): boolean {
  return sign.startsWith('Ctrl+');
}

/**
 * The key that a sign means.
 *
 * @param first the first of two, where it was pressed before. With it the sign means both together, or nothing: who was slow, or
 * pressed another key by mistake, has not asked for what the second does alone
 */
export function nameOf(first: string, sign: string): KeyName | undefined {
  return names.get(first === '' || isCtrl(sign) ? sign : `${first} ${sign}`);
}

/** Whether a sign begins two. */
export function isFirst(sign: string): boolean {
  return firsts.has(sign);
}
