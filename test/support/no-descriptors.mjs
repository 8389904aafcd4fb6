import { openSync } from 'node:fs';

/** Takes every file descriptor that this process may have. To be called once all modules are loaded. */
export function takeDescriptors() {
  try {
    for (;;) openSync('/dev/null');
  } catch (error) {
    if (error.code !== 'EMFILE') throw error;
  }
}
