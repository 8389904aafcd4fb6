/** A number of things, short: `184k`. */
export function count(value: number): string {
  if (value < 10_000) return value.toLocaleString('en');
  return value < 1_000_000 ? `${Math.round(value / 1_000)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

/** The input tokens that were read from a cache: ` (95k cached)`; empty for none. */
export function cachedPart({ cachedTokens }: { readonly cachedTokens: number }): string {
  return cachedTokens === 0 ? '' : ` (${count(cachedTokens)} cached)`;
}

/** Dollars: fractions of a cent are shown as such. */
export function dollars(usd: number): string {
  if (usd > 0 && usd < 0.01) return '<$0.01';
  return `$${usd.toFixed(2)}`;
}

/** A size in bytes. */
export function bytes(size: number): string {
  if (size < 1_000) return `${size} B`;
  if (size < 1_000_000) return `${(size / 1_000).toFixed(1)} kB`;
  return size < 1_000_000_000 ? `${(size / 1_000_000).toFixed(1)} MB` : `${(size / 1_000_000_000).toFixed(1)} GB`;
}

/** `1 turn`, `2 turns`. */
export function some(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A span of time in its largest unit. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 100_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 100 * 60_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** Limits of a budget: `$5.00, unlimited tokens`. */
export function limitsIn({ usd, tokens, turns }: Partial<Record<'usd' | 'tokens' | 'turns', unknown>>): string {
  return [
    usd === undefined ? [] : [typeof usd === 'number' ? dollars(usd) : 'unlimited dollars'],
    tokens === undefined ? [] : [typeof tokens === 'number' ? some(tokens, 'token') : 'unlimited tokens'],
    turns === undefined ? [] : [typeof turns === 'number' ? some(turns, 'turn') : 'unlimited turns'],
  ]
    .flat()
    .join(', ');
}
