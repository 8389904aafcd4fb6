import { randomBytes } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './content-store.js';
import { makeSubdirectory } from './make-subdirectory.js';

/** Writes a report's file, durable before it is registered, and returns its path relative to the project's directory. */
export async function writeReport(projectDir: string, name: string, text: string): Promise<string> {
  const directory = join(projectDir, 'reports');
  await makeSubdirectory(projectDir, 'reports');
  const temporary = join(directory, `.${randomBytes(6).toString('hex')}`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(directory, name));
  await syncDirectory(directory);
  return join('reports', name);
}
