import { readFileSync } from 'node:fs';

/** The parts of the benchmark, in their order. */
const parts = 'claim turns messages followers captures tools live docker neighbours idle web'.split(' ');
const partsInContainers = ['tools', 'docker', 'neighbours'];

/** What the benchmark takes, as for `parseArgs`. */
export const options = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string' },
  out: { type: 'string' },
  compare: { type: 'string' },
  profile: { type: 'string' },
};

export const usage = `usage: npm run bench [-- OPTIONS]
  --quick         fewer rounds: to see that everything works, not for figures
  --only PART     one of ${parts.join(', ')}
  --out FILE      where the rows go, as JSON (without: a file of their own in bench/results)
  --compare FILE  what is better or worse than in the rows of an earlier run
  --profile DIR   keep a CPU profile of every service there`;

/** What is wrong with the values, if anything is. */
export function mistakeIn({ only, compare }) {
  if (only !== undefined && !parts.includes(only)) return `--only ${only}: expected one of ${parts.join(', ')}`;
  if (compare !== undefined && !hasRows(compare)) return `--compare ${compare}: expected what a run wrote to its --out`;
  return undefined;
}

function hasRows(file) {
  try {
    return Array.isArray(JSON.parse(readFileSync(file, 'utf8')).rows);
  } catch {
    return false;
  }
}

/** What is needed to measure it, by the names of requirements. */
export function neededFor({ only, quick }) {
  const isInContainers = only === undefined || partsInContainers.includes(only);
  const isInBrowser = only === undefined ? !quick : only === 'web';
  return ['redis', ...(isInContainers ? ['docker'] : []), ...(isInBrowser ? ['chromium'] : [])];
}
