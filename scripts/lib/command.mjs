import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { buildCommand } from './checks.mjs';
import { engineAnswers } from './docker.mjs';
import { bringImagesUpToDate } from './images.mjs';
import { onProjectNode, root } from './project-node.mjs';
import { main, step } from './steps.mjs';

/** Makes a clone ready, then becomes `suzumio <args>`: the same process, so that signals reach it directly. */
export async function becomeSuzumio(...args) {
  await main(prepare);
  if (process.exitCode) return;
  const command = join(root, 'cli/bundle/dist/main.js');
  process.argv.splice(1, process.argv.length, command, ...args);
  await import(pathToFileURL(command).href);
}

async function prepare() {
  await onProjectNode({ checks: false });
  await step('Build', buildCommand);
  if (!(await engineAnswers())) return;
  // Without the image, suzumio itself says what does not work and what to do.
  const images = step('Images', () => bringImagesUpToDate({ source: 'auto' }));
  await images.catch((error) => console.log(`    ${error.message}`));
}
