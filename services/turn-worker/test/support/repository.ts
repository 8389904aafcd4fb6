import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Runs this machine's Git in a directory, for somebody who has configured nothing. */
export function gitIn(path: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=Yuki', '-c', 'user.email=yuki@example.org', '-c', 'protocol.file.allow=always'];
  const env = { PATH: process.env['PATH'], HOME: path, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  return execFileSync('git', ['-C', path, ...identity, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

/** A repository that a test makes with this machine's Git. */
export class TestRepository {
  constructor(readonly path: string) {
    mkdirSync(path, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
  }

  /** Runs Git in it and returns what it prints, without the last newline. */
  git(...args: string[]): string {
    return gitIn(this.path, ...args);
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true });
      writeFileSync(join(this.path, name), text);
    }
  }

  /** Commits files with all that is there, and returns the commit's id. */
  commit(files: Readonly<Record<string, string>>, message = 'Change something'): string {
    this.write(files);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--no-verify', '--message', message);
    return this.git('rev-parse', 'HEAD');
  }
}
