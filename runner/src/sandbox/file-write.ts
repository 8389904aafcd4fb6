import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sized } from '@suzumio/protocol/sized';
import { Draft } from './paths/draft.js';
import type { Sandbox, SandboxResponse } from './sandbox.js';
import { counted } from './text/legible.js';

export async function writeFile(
  { path, content, createDirs }: SandboxInput<'file.write'>,
  { roots, limits }: Sandbox,
): Promise<SandboxResponse> {
  const { isNew, note, sizeBytes } = await Draft.of(
    roots,
    { maxFileBytes: limits.fileBytes, foreign: false },
    (draft) => draft.writeWhole(path, content, { createDirs }),
  );
  const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
  return {
    output: `${isNew ? 'Wrote new file' : 'Wrote over'} ${path}: ${counted(lines, 'line')}, ${sized(sizeBytes)}.${note}`,
    metadata: { path, sizeBytes, change: isNew ? 'added' : 'changed' },
  };
}
