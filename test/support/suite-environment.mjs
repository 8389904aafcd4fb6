import process from 'node:process';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';
import { OpenHandles } from './open-handles.mjs';

/** Begins the message of a suite that left handles open; `npm test` knows it by this. */
export const leftOpen = 'The suite left open:';

const oneBound = 'A test has a bound of its own: that it hangs is said by testTimeout of jest.config.js, for all.';

/**
 * Node's environment, with a suite that fails when it leaves handles open, and names them when a test hangs. No test of it has a bound
 * of its own.
 */
export default class SuiteEnvironment extends NodeEnvironment {
  #handles = new OpenHandles();
  #hasOwnBound = false;
  /** Where one failure is all that is to be seen, the tests after it are skipped. */
  #skipsOthers = false;

  async handleTestEvent(event, state) {
    const { error } = event;
    if (event.name === 'add_test' || event.name === 'add_hook') {
      if (event.timeout !== undefined) this.#hasOwnBound = true;
    } else if (event.name === 'test_fn_failure' || event.name === 'hook_failure') {
      this.#skipsOthers = process.env.SUZUMIO_TEST_FIRST_FAILURE === 'true';
      if (/^Exceeded timeout/.test(messageOf(error))) this.#tellWhatIsOpen(error);
    } else if (event.name === 'test_start' && this.#skipsOthers) {
      event.test.mode = 'skip';
    } else if (event.name === 'run_finish') {
      if (this.#hasOwnBound) state.unhandledErrors.push(new Error(oneBound));
      const leaked = await this.#handles.leaked();
      if (leaked.length > 0) state.unhandledErrors.push(new Error([leftOpen, ...leaked].join('\n  ')));
    }
  }

  #tellWhatIsOpen(error) {
    const open = this.#handles.list();
    if (open.length > 0) console.error(`${messageOf(error)}\nOpen at that moment:\n  ${open.join('\n  ')}`);
  }

  async teardown() {
    this.#handles.stop();
    await super.teardown();
  }
}

function messageOf(error) {
  return String(error?.message ?? error);
}
