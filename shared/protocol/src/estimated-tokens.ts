/**
 * Estimates a text's tokens where the provider does not count: more than tokenizers make of most languages (about four
 * bytes each in English, three in others).
 */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / 3);
}

/** Estimates the tokens of a part of a conversation, as sent. */
export function tokensOf(part: unknown): number {
  return estimatedTokens(new TextEncoder().encode(JSON.stringify(part)).length);
}
