import { open, rename } from 'node:fs/promises';

/**
 * Writes a file so that readers see either the old or the new content. `durable` says whether it survives a power cut.
 */
export async function writeFileAtomically(
  path: string,
  text: string,
  { mode = 0o600, durable = false }: { mode?: number; durable?: boolean } = {},
): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', mode);
  try {
    await file.writeFile(text);
    if (durable) await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}
