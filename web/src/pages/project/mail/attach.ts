import { mailLimits } from '@suzumio/sdk/client';
import { newKey } from '../../../acts/use-act.js';
import { bytes } from '../../../parts/numbers.js';
import { type Attached, chosen } from './deliver.js';

/** Up to here, two files are compared byte by byte. */
const mostCompared = 16_000_000;

/**
 * Attaches files to what is attached.
 *
 * @returns what is attached then, and why others are not
 */
export async function attach(
  before: readonly Attached[],
  files: readonly File[],
): Promise<{ attached: readonly Attached[]; problems: string[] }> {
  let attached = before;
  const problems: string[] = [];
  for (const file of files) {
    const { name, size } = file;
    const lost = attached.find((one) => one.id === undefined && !chosen.has(one.key) && isCalled(one, file));
    if (lost) {
      chosen.set(lost.key, file);
      attached = [...attached];
    } else if (size === 0) problems.push(`${name} is not attached: it is empty, with 0 bytes.`);
    else if (size > mailLimits.fileBytes) {
      problems.push(
        `${name} is not attached: it has ${bytes(size)}, and a file may have ${mailLimits.fileBytes.toLocaleString('en')} bytes at most.`,
      );
    } else if (await isAmong(attached, file)) problems.push(`${name} is attached already.`);
    else if (attached.length >= mailLimits.attachments) {
      problems.push(`${name} is not attached: a message carries ${mailLimits.attachments} files at most.`);
    } else {
      const key = newKey();
      chosen.set(key, file);
      attached = [...attached, { key, name, size }];
    }
  }
  return { attached, problems };
}

function isCalled({ name, size }: Attached, file: File): boolean {
  return name === file.name && size === file.size;
}

async function isAmong(attached: readonly Attached[], file: File): Promise<boolean> {
  for (const one of attached) {
    const other = chosen.get(one.key);
    if (isCalled(one, file) && other && (await isSame(other, file))) return true;
  }
  return false;
}

async function isSame(one: File, other: File): Promise<boolean> {
  if (one.lastModified === other.lastModified) return true;
  if (one.size > mostCompared) return false;
  const [left, right] = await Promise.all([one, other].map(async (file) => new Uint8Array(await file.arrayBuffer())));
  return left?.every((byte, at) => byte === right?.[at]) === true;
}

/** Files that were pasted or dropped; of directories, which cannot be attached, the names. */
export function filesOf(data: DataTransfer): { files: File[]; directories: string[] } {
  const files: File[] = [];
  const directories: string[] = [];
  for (const item of data.items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile();
    if (entry?.isDirectory === true) directories.push(entry.name);
    else if (file) files.push(file);
  }
  return { files, directories };
}
