import { maxObjectBytes, maxPackObjects, maxUnpackedBytes } from '@suzumio/protocol/shared-repository';
import { DeltaReader } from './delta-reader.js';
import { NumberReader } from './number-reader.js';
import { PackFile } from './pack-file.js';
import { PackInvalid } from './pack-invalid.js';

/** No header of an object that is taken is longer. */
const objectHeaderBytes = 32;

const typeOfDelta = 6;
const plainTypes: ReadonlySet<number> = new Set([1, 2, 3, 4]);

/** Bounds that a test may lower. */
const usualBounds = { objects: maxPackObjects, objectBytes: maxObjectBytes, unpackedBytes: maxUnpackedBytes };

/** What would be right for a pack with too much in it. */
export const inParts = 'push an older commit of it first';

/**
 * Requires of a file that it is a pack which Git can take to its end, and which unpacks to no more than is allowed: every object is
 * there in full, and every delta is against an earlier object of the same pack, and fits it. What the objects say is for the
 * containers to check, which read them. So of all that is unpacked only sizes are kept: how much memory it takes depends on the
 * number of objects alone.
 *
 * @returns how many objects it has
 * @throws PackInvalid
 */
export async function inspectPack(path: string, bounds = usualBounds): Promise<number> {
  const pack = new PackFile(path);
  try {
    const { version, objects } = await pack.header();
    if (version !== 2) throw new PackInvalid(`is of version ${String(version)}: expected 2`);
    if (objects === 0) throw new PackInvalid('has no objects');
    if (objects > bounds.objects) {
      throw new PackInvalid(`has ${String(objects)} objects, and may have ${String(bounds.objects)}: ${inParts}`);
    }
    const inspection = new Inspection(pack, bounds);
    let at = pack.begin;
    for (let number = 1; number <= objects; number += 1) {
      try {
        at = await inspection.object(at);
      } catch (error) {
        if (!(error instanceof PackInvalid)) throw error;
        const which = `number ${String(number)} of ${String(objects)}, at byte ${String(at)}`;
        throw new PackInvalid(`has an object (${which}) that ${error.message}`);
      }
    }
    if (at !== pack.end) throw new PackInvalid('has more in it than its objects');
    return objects;
  } finally {
    pack.close();
  }
}

class Inspection {
  /** The sizes of the objects, by the places where they begin. */
  readonly #sizes = new Map<number, number>();
  #unpackedBytes = 0;

  constructor(
    private readonly pack: PackFile,
    private readonly bounds: typeof usualBounds,
  ) {}

  /** Inspects the object that begins at a place. Returns where it ends. */
  async object(at: number): Promise<number> {
    const header = new NumberReader(this.pack.bytesAt(at, objectHeaderBytes));
    const { type, size } = header.objectHeader();
    if (!plainTypes.has(type) && type !== typeOfDelta) {
      throw new PackInvalid('is a delta against what is not in the pack, or of an unknown kind');
    }
    this.#count(size);
    const delta = type === typeOfDelta ? this.#deltaAgainst(at - header.offset()) : undefined;
    const end = await this.pack.unpack(at + header.at, size, (bytes) => delta?.take(bytes));
    const made = delta?.end();
    if (made !== undefined) this.#count(made);
    this.#sizes.set(at, made ?? size);
    return end;
  }

  #deltaAgainst(base: number): DeltaReader {
    const size = this.#sizes.get(base);
    if (size === undefined) throw new PackInvalid('is a delta against no object before it');
    return new DeltaReader(size);
  }

  #count(bytes: number): void {
    const { objectBytes, unpackedBytes } = this.bounds;
    if (bytes > objectBytes) {
      throw new PackInvalid(`has ${String(bytes)} bytes, and may have ${String(objectBytes)}: leave that file out`);
    }
    this.#unpackedBytes += bytes;
    if (this.#unpackedBytes <= unpackedBytes) return;
    throw new PackInvalid(`unpacks, with those before it, to more than ${String(unpackedBytes)} bytes: ${inParts}`);
  }
}
