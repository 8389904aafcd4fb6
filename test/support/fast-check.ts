import fc from 'fast-check';

/**
 * Decides the cases that are generated. They are the same in each run, so that no change is refused for what it has not
 * touched; `npm run fuzz` looks for others.
 */
export const seed = Number(process.env['FUZZ_SEED'] ?? 20261127);

/**
 * How many generated cases a test has: `all` at the level `all`, else a quarter of them.
 *
 * @param least how many show what the test is for
 */
export const caseCount = (all: number, least = 1): number =>
  process.env['SUZUMIO_TEST_LEVEL'] === 'all' ? all : Math.max(least, Math.ceil(all / 4));

fc.configureGlobal({ seed, numRuns: caseCount(100) });

export default fc;
