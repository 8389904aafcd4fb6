import fc from 'fast-check';

/**
 * Decides the cases that are generated. They are the same in each run, so that no change is refused for what it has not
 * touched; `npm run fuzz` looks for others.
 */
export const seed = Number(process.env['FUZZ_SEED'] ?? 20261127);

fc.configureGlobal({ seed });

export default fc;
