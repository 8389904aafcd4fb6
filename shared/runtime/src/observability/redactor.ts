import { secretPrefix } from '@suzumio/contract/model/access-token';

/** Replaces a secret. */
export const redacted = '[redacted]';

/** Matches the tokens of attempts in a text. */
const attemptToken = /(lease|tool)\.[A-Za-z0-9_.-]{40,}/g;
const accessToken = new RegExp(`${secretPrefix}[A-Za-z0-9_-]{8,}`, 'g');
const bearer = /\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/gi;

/** Shorter values would redact ordinary text. */
export const shortestSecret = 8;

/** Removes secrets from text: those that were added, and what has the form of Suzumio's tokens. */
export interface Redactor {
  /** Removes `secret` from now on. Secrets shorter than eight characters are refused. */
  add(secret: string): void;
  redact(text: string): string;
}

/** Creates a redactor with initial `secrets`. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = new Set<string>();
  const redactor: Redactor = {
    add(secret) {
      if (secret.length < shortestSecret) {
        throw new RangeError(`a secret to be redacted needs at least ${shortestSecret} characters`);
      }
      known.add(secret);
      // The value as escaped in a JSON string.
      known.add(JSON.stringify(secret).slice(1, -1));
    },
    redact(text) {
      let clean = text;
      // Known secrets first: a pattern might match only part of one.
      for (const secret of known) clean = clean.replaceAll(secret, redacted);
      return clean
        .replace(attemptToken, `$1.${redacted}`)
        .replace(accessToken, `${secretPrefix}${redacted}`)
        .replace(bearer, `$1 ${redacted}`);
    },
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}
