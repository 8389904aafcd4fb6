// npm test: from a fresh clone to the result of every static check and of the essential suites, and of those that reach what
// changed since the branch began. npm run test:all: every suite. npm test -- --changed REV: those alone that reach what
// differs from REV. Other arguments go to Jest.
import process from 'node:process';
import { bringImagesUpToDate } from './lib/images.mjs';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';
import { provideRequirements, requirementsOf } from './lib/requirements.mjs';
import { chosenSuites, wordsOf } from './lib/selection.mjs';
import { step } from './lib/steps.mjs';
import { verify } from './lib/verify.mjs';

let signal;
let report = createReport();
try {
  await onProjectNode();
  signal = interruption();
  report = createReport({ signal });
  await everything();
} catch (error) {
  report.failed('Preparation', error);
}
report.finish();

async function everything() {
  const { args, selection } = await chosenSuites(process.argv.slice(2));
  const wanted = selection && requirementsOf(selection.paths);
  const skip = await step('Requirements', () => provideRequirements(wanted));
  const images = () => report.attempt('Images', () => updateImages(selection));
  const usesImages = !skip.includes('docker') && (wanted?.includes('docker') ?? true);
  await verify(report, { args, selection, skip, signal, ...(usesImages && { images }) });
}

/** Those that the suites use; where Jest gets the paths, all that are not for people alone. */
async function updateImages(selection) {
  const words = selection && (await wordsOf(selection.paths));
  await bringImagesUpToDate(words ? { source: 'auto', words } : { source: 'auto', tests: true, stack: true });
}
