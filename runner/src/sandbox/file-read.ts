import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type ImageMediaType, imageText, maxImageBytes, unseenText } from '@suzumio/protocol/images';
import { imageMediaType, notShownText, readImage, tooManyBytes } from '@suzumio/protocol/read-image';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sized } from '@suzumio/protocol/sized';
import { listDirectory } from './file-list.js';
import { SandboxRefusal } from './paths/refusal.js';
import { openedFile } from './paths/roots.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { binaryKind, sampleBytes } from './text/file-kind.js';
import { counted, firstBytes } from './text/legible.js';
import { readWindow, type Window } from './text/line-window.js';

type Input = SandboxInput<'file.read'>;

export async function readFile(input: Input, sandbox: Sandbox, { signal }: SandboxCall): Promise<SandboxResponse> {
  return sandbox.roots.at(input.path, {}, async (place) => {
    if (place.facts?.isDirectory() === true) return listDirectory(place, input, signal);
    const file = await openedFile(place, constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
      const sample = buffer.subarray(0, bytesRead);
      const mediaType = imageMediaType(sample);
      if (mediaType !== undefined) return await showImage(input.path, { file, size, mediaType }, sandbox);
      const kind = binaryKind(sample);
      if (kind) {
        const shown = JSON.stringify(input.path);
        throw new SandboxRefusal('binary-file', `${shown} is no text: ${kind.name}, ${sized(size)}.`);
      }
      return textAnswer(input, size, await readWindow(file, input, signal));
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

function textAnswer({ path, offset, maxBytes }: Input, size: number, window: Window): SandboxResponse {
  const { lines, total, hasMore, cutLines, crlf, lf, endsWithBreak } = window;
  const notes: string[] = [];
  const next = offset + lines.length;
  if (total === 0) notes.push('The file is empty.');
  else if (lines.length === 0) notes.push(`The file has ${counted(total ?? 0, 'line')}.`);
  else if (offset > 1 || hasMore) {
    const of = total === undefined ? ` of many, ${sized(size)} in all` : ` of ${total}`;
    notes.push(`Lines ${offset} to ${next - 1}${of}${hasMore ? `; go on with offset ${next}` : ''}.`);
  }
  if (cutLines > 0) notes.push(`${counted(cutLines, 'line')} too long to be shown whole.`);
  if (crlf > 0) notes.push(lf > 0 ? 'Line endings are mixed: CR LF and LF.' : 'Line endings are CR LF.');
  if (endsWithBreak === false) notes.push('No line break at the end of the file.');
  const text = firstBytes(Buffer.from(lines.join('\n')), maxBytes).toString();
  if (text.includes('\ufffd')) notes.push('Not all of it is UTF-8: \ufffd stands for the rest.');
  const told = notes.length === 0 ? [] : [`[${notes.join(' ')}]`];
  return {
    output: [...(text === '' ? [] : [text]), ...told].join('\n'),
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
