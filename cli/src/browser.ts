import { spawn } from 'node:child_process';

/** Whether a browser of this machine took an address or a file: the desktop's own command says so by its exit code. */
export function browserOpens(address: string): Promise<boolean> {
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open';
  return new Promise((resolve) => {
    const child = spawn(command, [address], { stdio: 'ignore' });
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
  });
}
