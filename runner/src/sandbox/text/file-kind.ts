import type { FileHandle } from 'node:fs/promises';
import { encodingOf } from './encoding.js';

/** What a binary file is, by how it begins. */
export interface FileKind {
  readonly name: string;
}

interface Signature extends FileKind {
  readonly at?: number;
  readonly bytes: string;
}

const signatures: readonly Signature[] = [
  { name: 'PNG image', bytes: '\x89PNG\r\n\x1a\n' },
  { name: 'JPEG image', bytes: '\xff\xd8\xff' },
  { name: 'GIF image', bytes: 'GIF87a' },
  { name: 'GIF image', bytes: 'GIF89a' },
  { name: 'WebP image', at: 8, bytes: 'WEBPVP8' },
  { name: 'TIFF image', bytes: 'II*\0' },
  { name: 'TIFF image', bytes: 'MM\0*' },
  { name: 'PDF document', bytes: '%PDF-' },
  { name: 'ZIP archive (or a document, wheel or jar in that format)', bytes: 'PK\x03\x04' },
  { name: 'empty ZIP archive', bytes: 'PK\x05\x06' },
  { name: 'gzip archive', bytes: '\x1f\x8b' },
  { name: 'bzip2 archive', bytes: 'BZh' },
  { name: 'xz archive', bytes: '\xfd7zXZ\0' },
  { name: 'Zstandard archive', bytes: '\x28\xb5\x2f\xfd' },
  { name: '7-Zip archive', bytes: "7z\xbc\xaf'\x1c" },
  { name: 'tar archive', at: 257, bytes: 'ustar' },
  { name: 'ELF program or library', bytes: '\x7fELF' },
  { name: 'Mach-O program', bytes: '\xcf\xfa\xed\xfe' },
  { name: 'Java class', bytes: '\xca\xfe\xba\xbe' },
  { name: 'WebAssembly module', bytes: '\0asm' },
  { name: 'SQLite database', bytes: 'SQLite format 3\0' },
  { name: 'Parquet file', bytes: 'PAR1' },
  { name: 'HDF5 file', bytes: '\x89HDF\r\n\x1a\n' },
  { name: 'NumPy array', bytes: '\x93NUMPY' },
  { name: 'Git pack', bytes: 'PACK\0' },
  { name: 'MP4 video', at: 4, bytes: 'ftyp' },
  { name: 'Matroska or WebM video', bytes: '\x1a\x45\xdf\xa3' },
  { name: 'Ogg audio', bytes: 'OggS\0' },
  { name: 'MP3 audio', bytes: 'ID3' },
  { name: 'RIFF file (WAV or AVI)', bytes: 'RIFF' },
  { name: 'UTF-32 text', bytes: '\xff\xfe\0\0' },
  { name: 'damaged UTF-16 text', bytes: '\xff\xfe' },
  { name: 'damaged UTF-16 text', bytes: '\xfe\xff' },
  { name: 'Windows program', bytes: 'MZ' },
];

/** How much of a file's beginning tells what it is. */
export const sampleBytes = 8192;

export async function sampleOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
  return buffer.subarray(0, bytesRead);
}

/** What a file is that is no text; undefined where it may be. */
export function binaryKind(sample: Buffer): FileKind | undefined {
  if (encodingOf(sample).name !== 'utf-8') return undefined;
  const found = signatures.find(({ at = 0, bytes }) => sample.toString('latin1', at, at + bytes.length) === bytes);
  // Some of these are what a text may begin with, too.
  if (found && (!isText(sample) || /image$|^PDF/.test(found.name))) return found;
  return sample.includes(0) ? { name: 'data with NUL bytes' } : undefined;
}

function isText(sample: Buffer): boolean {
  if (sample.includes(0)) return false;
  try {
    // The end may be the middle of a character.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** What leads on where a file is no text. */
export function otherWay({ name }: FileKind): string {
  if (name === 'UTF-32 text') return 'A command makes it UTF-8: iconv -f UTF-32 -t UTF-8.';
  if (/UTF-16/.test(name)) return 'A command shows what is in it: iconv -c -f UTF-16 -t UTF-8, or od -c.';
  return 'A command shows what is in it, such as file, strings or od -c.';
}
