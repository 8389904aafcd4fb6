/**
 * Patterns of the keys of model providers and code hosts. Each matches a whole run of letters, so that searching takes
 * linear time.
 */
const patterns: readonly RegExp[] = [
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])(?:gsk|xai|pplx|hf|r8|fw|ghp|gho|ghs|github_pat)[-_][A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
];

/** The offset of what looks like a key in a text; `undefined` where nothing does. */
export function indexOfKey(text: string): number | undefined {
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      // Random keys contain digits, unlike words joined by hyphens.
      if (/\d/.test(match[0])) return match.index;
    }
  }
  return undefined;
}

/** An address with a user name and a password, as for databases and proxies. */
const addressWithPassword = /(?<![a-z\d+.-])[a-z][a-z\d+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@[^\s/@]/gi;
/** Placeholders for a password in documentation. */
const noPassword = /^(?:[<[{$%*].*|x+|pw|pass|passwd|password|secret)$/is;

/** The offset of an address with a password in a text; `undefined` where there is none. */
export function indexOfPassword(text: string): number | undefined {
  for (const { index, 1: password = '' } of text.matchAll(addressWithPassword)) {
    if (!noPassword.test(password)) return index;
  }
  return undefined;
}

/** Whether an HTTP header carries credentials, judging by its name. */
export function isCredentialHeader(name: string): boolean {
  return /^(proxy-)?authorization$|^cookie$|(^|-)(api-?key|token|secret)$/i.test(name);
}

/**
 * Whether an environment variable holds a secret, judging by its name. Some words also count at the end of a longer
 * one, as in `PGPASSWORD`; others only as whole words between underscores or capitals, as in `DB_PASS` or `apiKey`, so
 * that `COMPASS`, `AUTHOR` and `MONKEY` do not count. `MAX_TOKENS` is a number, and `PWD` a directory.
 */
export function isSecretVariable(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').split('_');
  return words.some((word) => endOfSecret.test(word) || secretWord.test(word)) || /_PWD$/i.test(name);
}

const endOfSecret = /(?:token|secrets?|password|passwd|passphrase|credentials?|apikeys?)$/i;
const secretWord = /^(?:(?:access|private|secret)?keys?|auth|cookies?|creds?|dsn|jwt|pass|pat|pw)$/i;
