// npm test: from a fresh clone to the result of every check. Arguments go to Jest.
import process from 'node:process';
import { bringImagesUpToDate } from './lib/images.mjs';
import { interruption } from './lib/interruption.mjs';
import { onProjectNode } from './lib/project-node.mjs';
import { createReport } from './lib/report.mjs';
import { provideRequirements } from './lib/requirements.mjs';
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
  const skip = await step('Requirements', provideRequirements);
  const images = () =>
    report.attempt('Images', () => bringImagesUpToDate({ source: 'auto', tests: true, stack: true }));
  await verify(report, { args: process.argv.slice(2), skip, signal, ...(!skip.includes('docker') && { images }) });
}
