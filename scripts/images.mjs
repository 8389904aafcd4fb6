// npm run images [-- --offline | --registry] [--tests]: the runner's image, and those that tests use.
import { parseArgs } from 'node:util';
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { main, step } from './lib/steps.mjs';

const { values } = parseArgs({
  options: { offline: { type: 'boolean' }, registry: { type: 'boolean' }, tests: { type: 'boolean', default: false } },
});
const source = values.offline ? 'offline' : values.registry ? 'registry' : 'auto';

await main(async () => {
  await onProjectNode();
  await step('Build', build);
  await step('Images', () => bringImagesUpToDate({ source, tests: values.tests }));
});
