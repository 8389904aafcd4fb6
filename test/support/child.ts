import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach } from '@jest/globals';

/** Another process of a test's own; it ends with the test. */
export interface Child {
  /** The next line that it prints; fails when it ends instead. */
  line: () => Promise<string>;
  tell: (line: string) => void;
  kill: () => Promise<void>;
  /** Waits for its end and returns the exit code. */
  end: () => Promise<number | null>;
}

/** Starts a Node script that uses the built packages. */
export function children(): (script: URL, ...args: string[]) => Child {
  const running = new Set<ChildProcess>();
  afterEach(async () => {
    await Promise.all([...running].map((child) => killed(child)));
    running.clear();
  });
  return (script, ...args) => {
    const child = spawn(process.execPath, [script.pathname, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    running.add(child);
    const ended = once(child, 'exit');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      async line() {
        const { value, done } = await lines.next();
        if (done === true) throw new Error('the process ended without another line');
        return value;
      },
      tell: (line) => void child.stdin.write(`${line}\n`),
      kill: () => killed(child),
      end: async () => {
        await ended;
        return child.exitCode;
      },
    };
  };
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
