import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { runGit } from '../work-tree/run-git.js';

/** A pack in a file. */
export interface PackFacts {
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly objects: number;
}

/**
 * Writes what a push brings into a file: one pack, which needs no other.
 *
 * @param wanted objects that are to be there, with all that they refer to
 * @param known what is there
 * @param env names the repository
 */
export async function packNew(
  { wanted, known }: { wanted: readonly string[]; known: readonly string[] },
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<PackFacts> {
  const revisions = [...wanted, ...known.map((id) => `^${id}`)];
  await runGit(['pack-objects', '--revs', '--stdout', '--delta-base-offset', '-q'], {
    env,
    input: revisions.map((line) => `${line}\n`).join(''),
    outputTo: file,
  });
  return factsOf(file);
}

async function factsOf(file: string): Promise<PackFacts> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const bytes of createReadStream(file)) {
    hash.update(bytes as Buffer);
    sizeBytes += (bytes as Buffer).length;
  }
  const handle = await open(file);
  try {
    const { buffer } = await handle.read(Buffer.alloc(12), 0, 12, 0);
    return { sha256: hash.digest('hex'), sizeBytes, objects: buffer.readUInt32BE(8) };
  } finally {
    await handle.close();
  }
}
