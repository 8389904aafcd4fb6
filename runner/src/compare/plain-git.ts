import { spawn } from 'node:child_process';
import { maxComparedFileBytes } from '@suzumio/protocol/repository-diff';

/** Git has failed; its message is the end of what it said. */
export class PlainGitFailed extends Error {}

interface Output {
  bytes: Buffer;
  /** Whether there was more, and Git was ended. */
  cut: boolean;
}

/** Of address space, beyond what packs take: hostile objects unpack to little more than one of them. */
const memoryKilobytes = 4 * 1024 * 1024;
const maxSaidChars = 2_000;

/** Ends Git where it takes more, also where no container does. Not every system has such a limit. */
const limited = 'ulimit -v "$1" 2>/dev/null || :; shift; exec git "$@"';

/** What is told of nothing that a repository, a home or the host could say: no hook, driver, attribute or helper is named. */
const environment = {
  LC_ALL: 'C',
  TZ: 'UTC',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
};

const settings = [
  'core.attributesFile=/dev/null',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.quotePath=false',
  // One thread, and large objects as streams: what agents have packed takes little memory.
  `core.bigFileThreshold=${String(maxComparedFileBytes)}`,
  'pack.threads=1',
  'index.threads=1',
  'i18n.logOutputEncoding=UTF-8',
].flatMap((setting) => ['-c', setting]);

/** Git on one bare repository, with an environment and settings of its own. */
export class PlainGit {
  constructor(
    private readonly gitDir: string,
    private readonly path: string,
  ) {}

  /**
   * The output of a command, up to `maxBytes` of it.
   *
   * @throws PlainGitFailed
   */
  async run(args: readonly string[], { maxBytes = 64 * 1024, input = '' } = {}): Promise<Output> {
    const command = ['-c', limited, 'git', String(memoryKilobytes), ...settings, `--git-dir=${this.gitDir}`, ...args];
    const child = spawn('/bin/sh', command, {
      cwd: this.gitDir,
      env: { ...environment, PATH: this.path },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // Git may end before it has read everything: its exit code says why.
    child.stdin.on('error', () => undefined).end(input);
    const chunks: Buffer[] = [];
    let [taken, said, cut] = [0, '', false];
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-maxSaidChars)));
    child.stdout.on('data', (bytes: Buffer) => {
      if (cut) return;
      chunks.push(bytes);
      taken += bytes.length;
      if (taken <= maxBytes) return;
      cut = true;
      child.kill('SIGKILL');
    });
    const ended = await new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
    });
    if (ended !== 0 && !cut) {
      throw new PlainGitFailed(said.trim() || `git ${args[0] ?? ''} ended with ${String(ended)}`);
    }
    return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut };
  }

  /** The lines of a short output. */
  async lines(args: readonly string[], input?: string): Promise<string[]> {
    const { bytes } = await this.run(args, { ...(input === undefined ? {} : { input }) });
    return bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
  }
}
