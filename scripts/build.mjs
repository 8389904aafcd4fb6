// npm run build: compiles what changed and bundles the runner.
import { build } from './lib/checks.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { main } from './lib/steps.mjs';

await main(async () => {
  await onProjectNode();
  await build();
});
