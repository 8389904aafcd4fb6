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
export function indexOfSecret(text: string): number | undefined {
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      // Keys are random, and words joined by hyphens are not.
      if (/\d/.test(match[0])) return match.index;
    }
  }
  return undefined;
}

/** Whether an HTTP header carries credentials by its name. */
export function isCredentialHeader(name: string): boolean {
  return /^(proxy-)?authorization$|^cookie$|(^|-)(api-?key|token|secret)$/i.test(name);
}

/**
 * Whether an environment variable holds a secret by its name: one of its words, or the end of one, says so, as in
 * `GITHUB_TOKEN`, `PGPASSWORD` or `apiKey`. `MAX_TOKENS` counts, and `PWD` is a directory.
 */
export function isSecretVariable(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').split('_');
  return words.some((word) => secretWord.test(word)) || /_PWD$/i.test(name);
}

const secretWord =
  /^(?:.*(?:token|secrets?|password|passwd|passphrase|credentials?|apikeys?)|(?:access|private|secret)?keys?|pat)$/i;
