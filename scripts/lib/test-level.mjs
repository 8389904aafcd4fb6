import { bringImagesUpToDate } from './images.mjs';
import { provideRequirements, requirementsOf } from './requirements.mjs';
import { chosenSuites, wordsOf } from './selection.mjs';
import { step } from './steps.mjs';
import { verify } from './verify.mjs';

/**
 * Provides what suites need, then runs them beside the static checks.
 *
 * @param options.argv `--all`, `--changed REV`, or arguments for Jest; nothing for the essential level
 */
export async function testLevel(report, { argv, signal }) {
  const { args, selection } = await chosenSuites(argv);
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
