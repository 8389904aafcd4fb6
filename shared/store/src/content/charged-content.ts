import { Readable } from 'node:stream';
import { poolOf, type StorageLimits, type StoredKind } from '@suzumio/contract/model/storage';
import { type ContentStore, hashOf } from './content-store.js';
import { inBlocks } from '@suzumio/protocol/disk-blocks';
import type { DiskSpace } from '../sqlite/disk-space.js';
import type { Sql } from '../sqlite/sql.js';
import { passedQuota, quotaExceeded } from './stored-bytes.js';

/** The owner of content, and the kind that it is stored as. */
export interface ContentOwner {
  owner: string;
  kind: Exclude<StoredKind, 'rows' | 'logs'>;
}

type Charge = ContentOwner & { sha256: string; sizeBytes: number };
interface LogCharge {
  owner: string;
  bytes: number;
}

/** How much may be stored but not yet charged: a crash loses these charges until the next content collection. */
const waitingBytes = 8 * 1024 * 1024;
const waitingCharges = 200;

/**
 * Charges content to the owner that stores it. A charge is written with the project's next transaction, so that a file
 * costs no transaction of its own; until then it is counted in memory.
 */
export class ChargedContent {
  readonly #arriving = new Map<string, number>();
  #waiting: Charge[] = [];
  #waitingLogs: LogCharge[] = [];
  #written = { charges: 0, logs: 0 };

  constructor(
    private readonly sql: Sql,
    private readonly limits: StorageLimits,
    private readonly disk: DiskSpace | undefined,
    /** Runs an empty transaction. */
    private readonly commit: () => Promise<void>,
  ) {}

  /**
   * Stores a stream within its owner's quota. Content that exists already costs nothing: its first owner pays.
   *
   * @param claimed the declared hash and size
   * @throws SuzumioError `quota-exceeded`, `disk-reserve`; what {@link ContentStore.putStream} throws
   */
  async put(
    content: ContentStore,
    source: Readable | Iterable<Uint8Array>,
    by: ContentOwner,
    claimed: { sha256?: string; sizeBytes?: number } = {},
  ): Promise<{ sha256: string; sizeBytes: number }> {
    this.#requireRoom(by.owner, inBlocks(claimed.sizeBytes ?? 1));
    const arrival = { bytes: 0, counted: 0 };
    try {
      const stored = await content.putStream(this.#metered(source, by.owner, arrival), claimed.sha256);
      this.#waiting.push({ ...by, ...stored });
      return stored;
    } finally {
      this.#add(by.owner, -arrival.counted);
      await this.#settle();
    }
  }

  /** Stores bytes that are about to be referred to, within their owner's quota, and returns their hash. */
  async putBytes(content: ContentStore, bytes: Buffer, by: ContentOwner): Promise<string> {
    const sha256 = hashOf(bytes);
    if ((await content.renew(sha256)) === undefined)
      await this.put(content, [bytes], by, { sha256, sizeBytes: bytes.length });
    return sha256;
  }

  /**
   * Charges a log that replaces another.
   *
   * @param bytes how much more it is, in whole blocks
   *
   * @throws SuzumioError `quota-exceeded`, `disk-reserve`
   */
  async chargeLog(owner: string, bytes: number): Promise<void> {
    this.#requireRoom(owner, bytes);
    this.#waitingLogs.push({ owner, bytes });
    await this.#settle();
  }

  /** Writes the pending charges. Runs in a transaction. */
  write(): void {
    this.#written = { charges: this.#waiting.length, logs: this.#waitingLogs.length };
    for (const { sha256, owner, kind, sizeBytes } of this.#waiting) {
      this.sql.run(
        'INSERT OR IGNORE INTO stored_content (sha256, owner, kind, size_bytes) VALUES (:sha256, :owner, :kind, :sizeBytes)',
        { sha256, owner, kind, sizeBytes },
      );
    }
    for (const { owner, bytes } of this.#waitingLogs) addStoredBytes(this.sql, owner, 'logs', bytes);
  }

  /** Called after that transaction's commit. */
  written(): void {
    this.#waiting = this.#waiting.slice(this.#written.charges);
    this.#waitingLogs = this.#waitingLogs.slice(this.#written.logs);
    this.#written = { charges: 0, logs: 0 };
  }

  get waits(): boolean {
    return this.#waiting.length + this.#waitingLogs.length > 0;
  }

  async *#metered(
    source: Readable | Iterable<Uint8Array>,
    owner: string,
    arrival: { bytes: number; counted: number },
  ): AsyncGenerator<Uint8Array> {
    // The connection stays open, so that a sender of too much gets an answer.
    const chunks = source instanceof Readable ? source.iterator({ destroyOnReturn: false }) : source;
    for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
      arrival.bytes += chunk.length;
      const more = inBlocks(arrival.bytes) - arrival.counted;
      this.#requireRoom(owner, more);
      arrival.counted += more;
      this.#add(owner, more);
      yield chunk;
    }
  }

  #requireRoom(owner: string, bytes: number): void {
    this.disk?.require('files');
    const uncounted = (of?: string) =>
      sum(this.#arriving, of) +
      [
        ...this.#waiting.map(({ owner: by, sizeBytes }) => ({ owner: by, bytes: inBlocks(sizeBytes) })),
        ...this.#waitingLogs,
      ]
        .filter((charge) => of === undefined || charge.owner === of)
        .reduce((total, charge) => total + charge.bytes, 0);
    const more = { ofOwner: uncounted(owner) + bytes, ofProject: uncounted() + bytes };
    const passed = passedQuota(this.sql, this.limits, owner, poolOf('content'), more);
    if (passed) throw quotaExceeded(passed);
  }

  #add(owner: string, bytes: number): void {
    this.#arriving.set(owner, (this.#arriving.get(owner) ?? 0) + bytes);
    if (this.#arriving.get(owner) === 0) this.#arriving.delete(owner);
  }

  async #settle(): Promise<void> {
    const bytes = this.#waiting.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
    const charges = this.#waiting.length + this.#waitingLogs.length;
    if (bytes > waitingBytes || charges > waitingCharges) await this.commit();
  }
}

/** Adds to what an owner, and with it the project, has stored of one kind. Runs in a transaction. */
export function addStoredBytes(sql: Pick<Sql, 'run'>, owner: string, kind: StoredKind, bytes: number): void {
  sql.run(
    `INSERT INTO stored_bytes (owner, kind, bytes) VALUES (:owner, :kind, :bytes), ('', :kind, :bytes)
     ON CONFLICT (owner, kind) DO UPDATE SET bytes = bytes + :bytes`,
    { owner, kind, bytes },
  );
}

function sum(of: ReadonlyMap<string, number>, key?: string): number {
  if (key !== undefined) return of.get(key) ?? 0;
  return [...of.values()].reduce((total, bytes) => total + bytes, 0);
}
