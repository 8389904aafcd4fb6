/**
 * Shapes of the keys that model providers and code hosts hand out. Each takes a whole run of letters, so that looking
 * for them takes time in proportion to the text.
 */
const patterns: readonly RegExp[] = [
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}/g,
  /(?<![A-Za-z0-9])(?:gsk|xai|pplx|hf|r8|fw|ghp|gho|ghs|github_pat)[-_][A-Za-z0-9_]{20,}/g,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/g,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
];

/** Where in a text something begins that looks like a key; `undefined` where nothing does. */
export function indexOfKey(text: string): number | undefined {
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      // Keys are random, and words joined by hyphens are not.
      if (/\d/.test(match[0])) return match.index;
    }
  }
  return undefined;
}

/** An address with a name and a password in it, as databases and proxies have them. */
const addressWithPassword = /(?<![a-z\d+.-])[a-z][a-z\d+.-]*:\/\/[^\s/:@]*:([^\s/@]+)@[^\s/@]/gi;
/** What stands for a password where the form of an address is explained. */
const noPassword = /^(?:[<[{$%*].*|x+|pw|pass|passwd|password|secret)$/is;

/** Where in a text an address begins that has a password in it; `undefined` where there is none. */
export function indexOfPassword(text: string): number | undefined {
  for (const { index, 1: password = '' } of text.matchAll(addressWithPassword)) {
    if (!noPassword.test(password)) return index;
  }
  return undefined;
}

/** Whether an HTTP header carries credentials by its name. */
export function isCredentialHeader(name: string): boolean {
  return /^(proxy-)?authorization$|^cookie$|(^|-)(api-?key|token|secret)$/i.test(name);
}

/**
 * Whether an environment variable holds a secret by its name. Some words say so at the end of a longer one, too, as in
 * `PGPASSWORD`; the others only as whole words between underscores or capitals, as in `DB_PASS` or `apiKey`: `COMPASS`,
 * `AUTHOR` and `MONKEY` have none of them. `MAX_TOKENS` is a number, and `PWD` a directory.
 */
export function isSecretVariable(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').split('_');
  return words.some((word) => endOfSecret.test(word) || secretWord.test(word)) || /_PWD$/i.test(name);
}

const endOfSecret = /(?:token|secrets?|password|passwd|passphrase|credentials?|apikeys?)$/i;
const secretWord = /^(?:(?:access|private|secret)?keys?|auth|cookies?|creds?|dsn|jwt|pass|pat|pw)$/i;
