import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { secretPrefix } from '@suzumio/contract/model/access-token';
import type { AttemptRef } from '@suzumio/protocol/attempts';

/** A new secret, with a prefix by which the redactor recognises it. */
export function newSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString('base64url')}`;
}

/** The stored form of a secret. Secrets are random, so a plain hash is enough. */
export function hashToken(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  const left = Buffer.from(one);
  const right = Buffer.from(other);
  return left.length === right.length && timingSafeEqual(left, right);
}

export type AttemptTokenKind = 'lease' | 'tool';

/** The attempt that a token names. Whether the token is valid is decided by its hash in the store. */
export interface AttemptTokenClaims {
  kind: AttemptTokenKind;
  cell: string;
  project: string;
  epoch: number;
  turn: string;
  attempt: number;
}

/**
 * Derives a token of one attempt from the cell's key and the worker's claim, so that a repeated claim gets the same
 * tokens although only their hashes are stored.
 */
export function attemptToken(
  key: string,
  kind: AttemptTokenKind,
  of: Omit<AttemptRef, 'agent'>,
  claimId: string,
): string {
  const name = [kind, of.cell, of.project, String(of.epoch), of.turn, String(of.attempt)].join('.');
  const mac = createHmac('sha256', key).update(`${name}.${claimId}`).digest('base64url');
  return `${name}.${mac}`;
}

/** Parses a token; undefined where it has another form. */
export function parseAttemptToken(token: string): AttemptTokenClaims | undefined {
  const match =
    /^(lease|tool)\.([a-z0-9-]{1,32})\.([a-z0-9-]{1,63})\.(\d{1,9})\.(turn_[0-9A-Z]{26})\.(\d{1,9})\.[\w-]{43}$/.exec(
      token,
    );
  if (!match) return undefined;
  const [, kind, cell, project, epoch, turn, attempt] = match as unknown as [string, AttemptTokenKind, ...string[]];
  if (cell === undefined || project === undefined || turn === undefined) return undefined;
  return { kind, cell, project, epoch: Number(epoch), turn, attempt: Number(attempt) };
}
