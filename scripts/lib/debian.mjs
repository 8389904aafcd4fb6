import { existsSync } from 'node:fs';
import process from 'node:process';
import { run } from './steps.mjs';

/** Only here may the scripts install packages by themselves. */
export const canInstall = () => existsSync('/etc/debian_version') && process.getuid?.() === 0;

/** Installs Debian packages, with the index brought up to date first. */
export async function install(...packages) {
  console.log(`    apt-get install ${packages.join(' ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const quietly = { env, stdio: ['ignore', 'ignore', 'inherit'] };
  await run('apt-get', ['-qq', 'update'], quietly);
  await run('apt-get', ['-qq', 'install', '--yes', ...packages], quietly);
}

/** Installs one for its program alone: the service that Debian would start with it is not left running. */
export async function installProgram(name) {
  await install('--no-install-recommends', name);
  if (existsSync('/run/systemd/system')) await run('systemctl', ['--quiet', 'disable', '--now', name]);
}
