/**
 * Shapes of the keys that model providers and code hosts hand out. They ask for more than a prefix, so that words
 * such as `sk-ilful` pass.
 */
const patterns: readonly RegExp[] = [
  /(?<![A-Za-z0-9])sk-(?=[A-Za-z0-9_-]*\d)[A-Za-z0-9_-]{20,}/,
  /(?<![A-Za-z0-9])(?:gsk|xai|pplx|hf|r8|fw|ghp|gho|ghs|github_pat)[-_](?=[A-Za-z0-9_]*\d)[A-Za-z0-9_]{20,}/,
  /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/,
  /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/,
];

/** Where in a text something begins that looks like a key; `undefined` where nothing does. */
export function indexOfSecret(text: string): number | undefined {
  const starts = patterns.map((pattern) => text.search(pattern)).filter((index) => index >= 0);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** Whether an HTTP header carries credentials by its name. */
export function isCredentialHeader(name: string): boolean {
  return /^(proxy-)?authorization$|^cookie$|(^|-)(api-?key|token|secret)$/i.test(name);
}
