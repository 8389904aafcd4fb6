export const parts = [
  'claim',
  'turns',
  'messages',
  'followers',
  'captures',
  'tools',
  'docker',
  'neighbours',
  'idle',
] as const;

/** What the benchmark takes, as for `parseArgs`. */
export const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  out: { type: 'string' },
  profile: { type: 'string' },
} as const;

export const usage = `usage: npm run bench [-- OPTIONS]
  --quick        fewer rounds: to see that everything works, not for figures
  --only PART    one of ${parts.join(', ')}
  --out FILE     where the figures go, as JSON (without: a file of their own in bench/results)
  --profile DIR  keep a CPU profile of every service there`;

/** What is wrong with the values, if anything is. */
export function mistakeIn({ only }: { readonly only?: string | undefined }): string | undefined {
  if (only === undefined || parts.some((part) => part === only)) return undefined;
  return `--only ${only}: expected one of ${parts.join(', ')}`;
}
