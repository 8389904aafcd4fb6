import { fileURLToPath } from 'node:url';

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** The runner and the shim, as they are built for containers. */
export const files = { runner: at('runner/dist/bundle/runner.mjs'), shim: at('runner/dist/shim.mjs') };

/** The example of a runner that is not ours. */
export const foreignRunner = at('test/fixtures/foreign-runner/runner.mjs');
