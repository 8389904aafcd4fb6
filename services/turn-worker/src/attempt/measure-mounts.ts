import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  maxMeasuredMounts,
  maxMeasuredTargetLength,
  type AttemptRef,
  type MeasureAnswer,
  type MeasuredMount,
} from '@suzumio/protocol/attempts';
import { hasDescriptorPaths } from '../files/open-directory.js';
import { type Host, requireAllowed } from './host.js';

/** How much of a mount is looked at. A prompt says that there is more. */
export interface MeasureBounds {
  readonly entries: number;
  readonly ms: number;
}

const usualBounds: MeasureBounds = { entries: 1_000, ms: 500 };

/**
 * What is in the mounts of a turn, for its prompt. Nothing is looked at that this host's policy does not allow. What cannot be
 * measured is left out.
 */
export async function measureMounts(
  host: Pick<Host, 'policyOf' | 'mountable'>,
  of: Pick<AttemptRef, 'cell' | 'project'>,
  request: MeasureAnswer['measure'],
  bounds = usualBounds,
): Promise<MeasuredMount[]> {
  let mounts: ReturnType<typeof requireAllowed>;
  try {
    mounts = requireAllowed(host, of, request);
  } catch {
    // The claim is refused for it, with a reason.
    return [];
  }
  const asked = mounts.filter(({ target }) => target.length <= maxMeasuredTargetLength).slice(0, maxMeasuredMounts);
  const measured = await Promise.all(
    asked.map(async ({ source, target }) => ({ target, size: await sizeOf(source, bounds) })),
  );
  return measured.flatMap(({ target, size }) => (size ? [{ target, ...size }] : []));
}

type Size = Omit<MeasuredMount, 'target'>;

/** Undefined where it cannot be told, for instance because its file system hangs. */
async function sizeOf(source: string, bounds: MeasureBounds): Promise<Size | undefined> {
  const count = new Count(bounds.entries);
  const counting = count.add(source).then(
    () => count.size,
    () => undefined,
  );
  const late = sleep(bounds.ms, 'late' as const, { ref: false });
  const size = await Promise.race([counting, late]);
  if (size !== 'late') return size;
  count.stop();
  return count.size.files === 0 ? undefined : { ...count.size, more: true };
}

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Each level holds a descriptor. */
const maxDepth = 32;

/**
 * Counts regular files. A turn may write there meanwhile: a directory is opened as one, never by way of a link, and what is in it
 * is reached by its descriptor.
 */
class Count {
  readonly size: Size = { files: 0, bytes: 0, more: false };

  constructor(private left: number) {}

  /** No more is looked at. */
  stop(): void {
    this.left = 0;
  }

  async add(path: string, depth = 0): Promise<void> {
    const facts = await lstat(path);
    if (facts.isFile()) {
      this.size.files += 1;
      this.size.bytes += facts.size;
    }
    if (!facts.isDirectory()) return;
    if (depth > maxDepth) this.size.more = true;
    else await this.#addAll(path, depth);
  }

  async #addAll(path: string, depth: number): Promise<void> {
    const directory = await open(path, flags);
    try {
      const base = hasDescriptorPaths ? `/proc/self/fd/${directory.fd}` : path;
      for await (const { name } of await opendir(base)) {
        this.left -= 1;
        if (this.left < 0) {
          this.size.more = true;
          return;
        }
        // What has gone, or may not be read, is not known.
        await this.add(`${base}/${name}`, depth + 1).catch(() => (this.size.more = true));
      }
    } finally {
      await directory.close();
    }
  }
}
