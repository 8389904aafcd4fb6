import { fileURLToPath } from 'node:url';

const fromHere = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Files that belong to this installation of Suzumio. */
export const installation = {
  /** The runner for the `process` backend; its parts are beside it. */
  runnerBundle: fromHere('../../../runner/dist/bundle/runner.mjs'),
  /** What runs before the entrypoint of an image with a runner of its own, as one file. */
  shimFile: fromHere('../../../runner/dist/shim.mjs'),
  demoAiProject: fromHere('../../../examples/newsroom/newsroom-ai.yaml'),
  demoProject: fromHere('../../../examples/newsroom/newsroom.yaml'),
} as const;
