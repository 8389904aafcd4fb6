import * as z from 'zod';
import { retention } from '@suzumio/protocol/duration';
import { wholeNumber } from './scalar-config.js';
import { size } from './size-config.js';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/**
 * The kinds of stored bytes.
 *
 * - `content`: files that agents published, or uploaded to publish
 * - `reports`: reports that agents submitted
 * - `snapshots`: workspaces
 * - `uploads`: files that people uploaded
 * - `logs`: containers' output
 * - `rows`: everything in its database: mail, calls, answers of models, turns, events
 */
export const storedKinds = ['content', 'reports', 'snapshots', 'uploads', 'logs', 'rows'] as const;
export type StoredKind = (typeof storedKinds)[number];

/** Rows stay as long as their project, while unreferenced files are removed. So each has a limit of its own. */
export type StoredPool = 'files' | 'rows';

export function poolOf(kind: StoredKind): StoredPool {
  return kind === 'rows' ? 'rows' : 'files';
}

const quota = (files: number, rows: number) =>
  z.strictObject({ files: size.default(files), rows: size.default(rows) }).prefault({});

/** The operator's storage limits, in bytes. */
export const storageLimits = z.strictObject({
  /** Of one project, all of its agents and people together. */
  project: quota(16 * GIB, 4 * GIB),
  /** Of one agent. */
  agent: quota(4 * GIB, GIB),
  /** The files of workspaces as earlier turns have left them. What is older, and of earlier turns, is collected. */
  history: z
    .strictObject({
      /** How long they are kept. */
      keepFor: retention.default(30 * 24 * 3_600_000),
      /** Of how many of an agent's last turns they are kept, however old. */
      turns: wholeNumber(1, 1_000_000).default(20),
    })
    .prefault({}),
  /** The reserves of the disk: with less free, nothing of that kind is written. */
  reserve: z
    .strictObject({
      /** Content, reports, snapshots, uploads and logs. */
      files: size.default(512 * MIB),
      /** What agents do. */
      rows: size.default(256 * MIB),
      /** What people do, but for deleting. */
      mail: size.default(64 * MIB),
    })
    .prefault({}),
});
export type StorageLimits = z.infer<typeof storageLimits>;

const kindBytes = z.object(
  Object.fromEntries(storedKinds.map((kind) => [kind, z.int()])) as Record<StoredKind, z.ZodInt>,
);

/** A storage limit that is reached, and what it blocks. */
export const storageReached = z.object({
  agent: z.string().nullable().describe("Whose it is; null for a project's own, and for the disk."),
  limit: z.enum(['files', 'rows', 'disk']),
  message: z.string(),
});
export type StorageReached = z.infer<typeof storageReached>;

/** What is stored, in bytes. */
export const storedView = z.object({
  bytes: kindBytes,
  owners: z
    .array(z.object({ owner: z.string(), bytes: kindBytes }))
    .describe('Of each owner, where one project was asked for; `system` for what belongs to no agent.'),
  projectsOverQuota: z.int().describe('How many projects have reached a quota, their own or one of their agents.'),
  disk: z
    .object({
      freeBytes: z.int(),
      freeFiles: z
        .int()
        .nullable()
        .describe('How many files can still be made; null where that has no bound of its own.'),
      /** The uses that it has no room for. */
      shortFor: z.array(z.enum(['files', 'rows', 'mail'])),
    })
    .nullable()
    .describe('Null for a token that is for one project.'),
});
export type StoredView = z.infer<typeof storedView>;

/** The uses of the disk, in the order in which they stop. */
export type DiskUse = keyof StorageLimits['reserve'];

/** The limits of a host without a policy. */
export const defaultStorageLimits: StorageLimits = storageLimits.prefault({}).parse(undefined);

/** Bytes for people. */
export function bytesInWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const figure = bytes / 1024 ** power;
  return `${power === 0 || Number.isInteger(figure) ? String(figure) : figure.toFixed(1)} ${units[power] ?? ''}`;
}
