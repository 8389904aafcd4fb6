import process from 'node:process';

/** @returns a signal that Ctrl-C or SIGTERM aborts; a second one ends the process at once, as without this */
export function interruption() {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(name, () => {
      console.log(`\n${name}: ending what runs.`);
      controller.abort();
    });
  }
  return controller.signal;
}
