/**
 * How many tokens a text has, for want of the model's own counting: more than tokenizers make of most languages (about
 * four bytes each in English, three in others).
 */
export function estimatedTokens(bytes: number): number {
  return Math.ceil(bytes / 3);
}

/** How many tokens a part of a conversation has, as it is sent. */
export function tokensOf(part: unknown): number {
  return estimatedTokens(new TextEncoder().encode(JSON.stringify(part)).length);
}
