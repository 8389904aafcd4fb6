// npm run images [-- --offline | --registry] [--tests] [--stack]: the runner's image, those that tests
// use, and those of docker-compose.yml.
import { parseArgs } from 'node:util';
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { main, step } from './lib/steps.mjs';

const { values } = parseArgs({
  options: {
    offline: { type: 'boolean' },
    registry: { type: 'boolean' },
    tests: { type: 'boolean' },
    stack: { type: 'boolean' },
  },
});
const source = values.offline ? 'offline' : values.registry ? 'registry' : 'auto';

await main(async () => {
  await onProjectNode();
  await step('Build', build);
  await step('Images', () => bringImagesUpToDate({ source, tests: values.tests, stack: values.stack }));
});
