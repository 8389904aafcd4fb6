/** The ways in which a script may end its own process, for tests of what follows. */
export interface ProcessControl {
  /** Dies at once, as from a kill. */
  crash(): Promise<never>;
  /** Never returns, and does not heed SIGTERM. */
  hang(): Promise<never>;
}

/** Acts on `self`, the running process. */
export function processControl(self: NodeJS.Process): ProcessControl {
  return {
    crash() {
      self.kill(self.pid, 'SIGKILL');
      // Where this is process 1 of its namespace, the kernel ignores its own SIGKILL.
      self.abort();
    },
    hang() {
      self.on('SIGTERM', () => self.stderr.write('the script hangs on, SIGTERM or not\n'));
      self.stderr.write('the script hangs here\n');
      return new Promise(() => setInterval(() => undefined, 60_000));
    },
  };
}
