import { spawn } from 'node:child_process';
import { once } from 'node:events';

const program = `
import fcntl, signal, sys, time
f = open(sys.argv[1], 'r+b')
def asked(*_):
    if sys.argv[2] == 'gives it back':
        time.sleep(0.2)
        fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)
signal.signal(signal.SIGIO, asked)
fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
while True:
    time.sleep(1)
`;

/** Does something while another process holds a write lease on a file. */
export async function whileLeased(
  path: string,
  does: 'keeps it' | 'gives it back',
  work: () => Promise<void>,
): Promise<void> {
  const child = spawn('python3', ['-c', program, path, does], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    await work();
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
