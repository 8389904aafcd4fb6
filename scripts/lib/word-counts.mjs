const maxShown = 5;
const kinds = ['names', 'comments'];
const kindOf = ({ name }) => (name === undefined ? 'comments' : 'names');

/** How many private words each package has in its names and comments. */
function countsOf(found) {
  const counts = {};
  for (const word of found) {
    const count = (counts[word.package] ??= { names: 0, comments: 0 });
    count[kindOf(word)] += 1;
  }
  return counts;
}

/** The allowed numbers, lowered to what was found. None rises. */
export function lowered(found, allowed) {
  const counts = countsOf(found);
  const packages = Object.entries(allowed).map(([name, numbers]) => {
    const lower = (kind) => Math.min(numbers[kind], counts[name]?.[kind] ?? 0);
    return [name, { names: lower('names'), comments: lower('comments') }];
  });
  return Object.fromEntries(packages.filter(([, { names, comments }]) => names + comments > 0));
}

/**
 * What is wrong with the numbers of private words, a sentence each. A package without a number may have none.
 *
 * @param found the private words of all packages, each with its package, path and line
 * @param allowed the numbers of each package
 * @param options.file where the numbers are
 * @param options.changedLines returns a function that says of a line whether it is new: such words are shown first
 */
export function wordProblems(found, allowed, { file, changedLines }) {
  const counts = countsOf(found);
  const problems = [];
  let isNew;
  for (const name of new Set([...Object.keys(counts), ...Object.keys(allowed)])) {
    for (const kind of kinds) {
      const count = counts[name]?.[kind] ?? 0;
      const limit = allowed[name]?.[kind] ?? 0;
      const numbers = `${name} has ${count} private words in its ${kind}, and ${file} allows ${limit}`;
      if (count < limit) problems.push(`${numbers}. Lower it in the same commit: node scripts/words.mjs --lower`);
      if (count <= limit) continue;
      const words = found.filter((word) => word.package === name && kindOf(word) === kind);
      isNew ??= changedLines();
      problems.push(`${numbers}:`, ...worst(words, isNew).map(line), 'The list is scripts/lib/private-words.mjs.');
    }
  }
  return problems;
}

/** New words, then those of the files that have most. */
function worst(words, isNew) {
  const perFile = Map.groupBy(words, ({ path }) => path);
  const rank = (word) => (isNew(word.path, word.line) ? Infinity : perFile.get(word.path).length);
  const ranked = words.map((word) => ({ word, rank: rank(word) }));
  return ranked
    .sort((a, b) => (a.rank === b.rank ? 0 : b.rank - a.rank))
    .slice(0, maxShown)
    .map(({ word }) => word);
}

const line = ({ path, line: at, name, word, write }) =>
  `  ${path}:${at} ${name ?? `"${word}"`}: write ${write} instead of "${word.replace(/^[=^]/, '')}"`;
