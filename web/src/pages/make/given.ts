import { bytes } from '../../parts/numbers.js';

/** The longest project file that a server takes, in bytes. */
export const mostBytes = 900_000;

/** A text that was given, or why it cannot be taken. */
export type Given = { text: string } | { refused: string };

/** A pasted text, where it can be a project file. */
export function givenText(text: string): Given {
  // No character has more bytes in UTF-8 than three for each of its units.
  const size = text.length > mostBytes ? text.length : new TextEncoder().encode(text).byteLength;
  return size > mostBytes ? { refused: tooLarge('What was pasted', size) } : { text };
}

/** The text of a file, where it has one and it can be a project file. */
export async function givenFile(file: File): Promise<Given> {
  if (file.size > mostBytes) return { refused: tooLarge(file.name, file.size) };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    if (!text.includes('\0')) return { text: text.replaceAll('\r\n', '\n') };
  } catch {
    // It is no text, or can no longer be read.
  }
  return { refused: `${file.name} is no text: a project file is YAML in UTF-8. Nothing was changed.` };
}

function tooLarge(what: string, size: number): string {
  return `${what} has ${bytes(size)}, and a project file at most ${bytes(mostBytes)}. Nothing was changed.`;
}
