import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type ImageMediaType, imageText, maxImageBytes, unseenText } from '@suzumio/protocol/images';
import { imageMediaType, notShownText, readImage, tooManyBytes } from '@suzumio/protocol/read-image';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sized } from '@suzumio/protocol/sized';
import { listDirectory } from './file-list.js';
import { SandboxRefusal } from './paths/refusal.js';
import { openedFile, twinsText } from './paths/roots.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { type TextEncoding, encodingOf, encodingText } from './text/encoding.js';
import { binaryKind, otherWay, sampleOf } from './text/file-kind.js';
import { counted } from './text/legible.js';
import { readWindow, type Window } from './text/line-window.js';

type Input = SandboxInput<'file.read'>;

export async function readFile(input: Input, sandbox: Sandbox, { signal }: SandboxCall): Promise<SandboxResponse> {
  return sandbox.roots.at(input.path, {}, async (place) => {
    if (place.facts?.isDirectory() === true) return listDirectory(place, input, signal);
    const file = await openedFile(place, constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      const sample = await sampleOf(file);
      const mediaType = imageMediaType(sample);
      if (mediaType !== undefined) return await showImage(input.path, { file, size, mediaType }, sandbox);
      const kind = binaryKind(sample);
      if (kind) {
        const shown = JSON.stringify(input.path);
        throw new SandboxRefusal('binary-file', `${shown} is no text: ${kind.name}, ${sized(size)}. ${otherWay(kind)}`);
      }
      const encoding = encodingOf(sample);
      const window = await readWindow(file, encoding, input, signal);
      return textAnswer(input, size, encoding, window, twinsText(place).trim());
    } finally {
      await file.close();
    }
  });
}

async function showImage(
  path: string,
  { file, size, mediaType }: { file: FileHandle; size: number; mediaType: ImageMediaType },
  { show }: Sandbox,
): Promise<SandboxResponse> {
  const isTooLarge = size > maxImageBytes;
  const bytes = isTooLarge ? Buffer.alloc(0) : await wholeFile(file, size);
  const shape = isTooLarge ? tooManyBytes(mediaType, size) : readImage(bytes);
  if (!shape) throw new SandboxRefusal('file-changed', `${JSON.stringify(path)} changed while it was read.`);
  if ('why' in shape) throw new SandboxRefusal(shape.code, notShownText(path, shape));
  const facts = { ...shape, sizeBytes: bytes.length };
  if (!show) throw new SandboxRefusal('model-cannot-see', unseenText(path, facts));
  return {
    output: `${path}: ${imageText(facts)}`,
    metadata: { path, kind: 'image', sizeBytes: bytes.length },
    image: { sha256: await show(bytes), ...facts },
  };
}

/** A file, as long as it was said to be at most. */
async function wholeFile(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

function textAnswer(
  { path, offset, column }: Input,
  size: number,
  encoding: TextEncoding,
  window: Window,
  twins: string,
): SandboxResponse {
  const { lines, first, total, hasMore, cutLines, crlf, lf, endsWithBreak, unreadable } = window;
  const notes: string[] = [];
  const next = offset + lines.length;
  if (total === 0) notes.push('The file is empty.');
  else if (lines.length === 0) notes.push(`The file has ${counted(total ?? 0, 'line')}.`);
  else if (column !== undefined && first) notes.push(partText(offset, first, hasMore));
  else if (offset > 1 || hasMore) {
    const of = total === undefined ? ` of many, ${sized(size)} in all` : ` of ${total}`;
    notes.push(`Lines ${offset} to ${next - 1}${of}${hasMore ? `; go on with offset ${next}` : ''}.`);
  }
  if (cutLines > 0 && column === undefined) {
    notes.push(
      `${counted(cutLines, 'line')} too long to be shown whole: offset with the line and column with the byte show the rest.`,
    );
  }
  if (encoding.name !== 'utf-8' || (encoding.hasMark && offset === 1)) {
    notes.push(`It is ${encodingText(encoding)}, which file.write and file.patch keep.`);
  }
  if (crlf > 0) notes.push(lf > 0 ? 'Line endings are mixed: CR LF and LF.' : 'Line endings are CR LF.');
  if (endsWithBreak === false) notes.push('No line break at the end of the file.');
  if (unreadable) notes.push(unreadableText(unreadable));
  if (twins !== '') notes.push(twins);
  const told = notes.length === 0 ? [] : [`[${notes.join(' ')}]`];
  return {
    output: [...lines, ...told].join('\n'),
    metadata: {
      path,
      kind: 'file',
      sizeBytes: size,
      offset,
      lines: lines.length,
      ...(total === undefined ? {} : { total }),
      truncated: hasMore || cutLines > 0,
    },
  };
}

/** Which bytes of a line are shown, and what shows the next ones. */
function partText(line: number, { from, to, bytes }: NonNullable<Window['first']>, hasMore: boolean): string {
  const rest = to < bytes ? `offset ${line}, column ${to + 1}` : `offset ${line + 1}`;
  const goesOn = to < bytes || hasMore ? `; go on with ${rest}` : '';
  if (from > bytes) return `Line ${line} has ${counted(bytes, 'byte')}${goesOn}.`;
  return `Line ${line}, bytes ${from} to ${to} of ${bytes}${goesOn}.`;
}

function unreadableText({ line, byte }: NonNullable<Window['unreadable']>): string {
  const first = `0x${byte.toString(16).toUpperCase().padStart(2, '0')} in line ${line}`;
  return (
    `Not all of it is UTF-8: \ufffd stands for the rest, first for ${first}. If it is Windows-1252 or Latin-1, a command ` +
    'shows it: iconv -f WINDOWS-1252 -t UTF-8. file.patch keeps such bytes, and takes \ufffd in what is searched for them.'
  );
}
