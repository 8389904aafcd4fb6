import { appendFileSync } from 'node:fs';
import process from 'node:process';

/**
 * A reporter for Jest. It writes at once which suites run, for the case that Jest never gets to its results.
 *
 * @public
 */
export default class ProgressReporter {
  onTestFileStart({ path }) {
    this.#write('began', path);
  }

  onTestCaseResult({ path }) {
    this.#write('goes on', path);
  }

  onTestFileResult({ path }) {
    this.#write('ended', path);
  }

  #write(what, path) {
    appendFileSync(process.env.SUZUMIO_TEST_PROGRESS, `${what} ${path}\n`);
  }
}
