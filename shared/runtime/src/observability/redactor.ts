import { secretPrefix } from '@suzumio/contract/model/access-token';

/** What stands where a secret stood. */
export const redacted = '[redacted]';

/** The tokens of an attempt, wherever they turn up in a text. */
const attemptToken = /(lease|tool)\.[A-Za-z0-9_.-]{40,}/g;
const accessToken = new RegExp(`${secretPrefix}[A-Za-z0-9_-]{8,}`, 'g');
const bearer = /\b(Bearer|Basic) +[A-Za-z0-9._~+/=-]+/gi;

/** A value shorter than this would blank out ordinary text. */
export const shortestSecret = 8;

/** Takes secrets out of text: those that it was told of, and what looks like one of our tokens. */
export interface Redactor {
  /** From now on `secret` is taken out. Shorter ones than eight characters are refused. */
  add(secret: string): void;
  redact(text: string): string;
}

/** A redactor that knows `secrets` from the start. */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  const known = new Set<string>();
  const redactor: Redactor = {
    add(secret) {
      if (secret.length < shortestSecret) {
        throw new RangeError(`a secret to be redacted needs at least ${shortestSecret} characters`);
      }
      known.add(secret);
      // The same value as it looks inside a JSON string.
      known.add(JSON.stringify(secret).slice(1, -1));
    },
    redact(text) {
      let clean = text;
      // What is known goes first: a pattern might end within it, and leave the rest.
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
