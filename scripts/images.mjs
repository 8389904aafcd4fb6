// npm run images: the runner's image, those that tests use, and those of docker-compose.yml.
import { build } from './lib/checks.mjs';
import { bringImagesUpToDate } from './lib/images.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { readOptions } from './lib/options.mjs';
import { main, step } from './lib/steps.mjs';

const usage = `usage: npm run images [-- OPTIONS]
  --offline   build from the packages of this machine alone
  --registry  build from public base images alone (without either: whatever works)
  --science   also the runner's image with numpy, pandas and matplotlib
  --tests     also the images that tests use
  --stack     also the images of docker-compose.yml`;
const { values } = readOptions(usage, {
  options: {
    offline: { type: 'boolean' },
    registry: { type: 'boolean' },
    science: { type: 'boolean' },
    tests: { type: 'boolean' },
    stack: { type: 'boolean' },
  },
});
const source = values.offline ? 'offline' : values.registry ? 'registry' : 'auto';

await main(async () => {
  await onProjectNode();
  await step('Build', build);
  await step('Images', () => bringImagesUpToDate({ ...values, source }));
});
