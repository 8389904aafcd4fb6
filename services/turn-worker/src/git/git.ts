import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '@suzumio/core/config/environment';
import { type Proxy, ProxySettings, shownProxy } from '@suzumio/runtime/http/proxy-settings';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import { killMarked } from '../engine/process/marked-processes.js';
import type { HeldDirectory } from '../files/hold-directory.js';
import { writeFileAtomically } from '../files/write-file-atomically.js';
import { gitConfig, gitEnvironment } from '@suzumio/runtime/repository/git-config';
import { GitFailed } from '@suzumio/runtime/repository/git-failed';

export interface GitOptions {
  /** The worker's own directory for Git: its configuration and an empty home. */
  directory: string;
  /** The largest file that Git may write, in bytes. */
  maxFileBytes: number;
  /** Where the proxies are named, and the file of authorities for TLS (GIT_SSL_CAINFO). @default none */
  environment?: Environment | undefined;
}

export interface GitRun {
  /** The protocols that may be used. @default none */
  protocols?: readonly string[];
  /** The address that the command talks to. */
  remote?: string;
  /** Aborted when the command has to end. */
  signal: AbortSignal;
  /** A directory that the command, and what it starts, has open as descriptor {@link heldFd}. */
  held?: HeldDirectory | undefined;
  /** What the command reads. @default nothing */
  input?: string | undefined;
  /** A file that is the command's index. */
  index?: string | undefined;
  /** Takes the standard output; throws to end the command. @default it is kept */
  onOutput?: ((bytes: Buffer) => void) | undefined;
}

/** The descriptor of a directory that Git is given: the first after its standard ones. */
export const heldFd = 3;

/** Marks Git's processes, to find those that outlived their worker. */
const gitMark = 'SUZUMIO_GIT_MARK';
const orphanPatienceMs = 5_000;

/** Memory beyond what is mapped of the files. */
const memoryBytes = 2 * 1024 ** 3;
const maxKeptBytes = 64 * 1024;
const maxErrorBytes = 16 * 1024;

/** Ends a command with its reason before Git could: the limits of files and of memory hold for all that Git starts. */
const limited = 'ulimit -f "$1" && { ulimit -v "$2" 2>/dev/null || :; } && shift 2 && exec "$@"';

/**
 * Runs Git on this host, with an environment and a configuration of its own. It may only be given directories in which no
 * agent has written, and names that were checked.
 */
export class Git {
  readonly #home: string;
  readonly #configFile: string;
  readonly #proxies: ProxySettings;
  #opened: Promise<void> | undefined;

  constructor(private readonly options: GitOptions) {
    this.#home = join(options.directory, 'home');
    this.#configFile = join(options.directory, 'gitconfig');
    this.#proxies = new ProxySettings(options.environment ?? {});
  }

  /**
   * Runs a command and returns its standard output. Nothing of it runs any more when this resolves or rejects.
   *
   * @throws GitFailed; what `signal` was aborted with; what `onOutput` throws
   */
  async run(
    args: readonly string[],
    { protocols = [], remote, signal, held, input, index, onOutput }: GitRun,
  ): Promise<string> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
    signal.throwIfAborted();
    const { maxFileBytes, directory } = this.options;
    const limits = [Math.ceil(maxFileBytes / 512), Math.ceil((memoryBytes + maxFileBytes) / 1024)].map(String);
    const child = spawn('/bin/sh', ['-c', limited, 'git', ...limits, 'git', ...args], {
      cwd: this.#home,
      // A process group of its own, so that all that Git starts ends with it.
      detached: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', held?.fd ?? 'ignore'],
      env: {
        ...gitEnvironment,
        ...this.#wayTo(remote),
        HOME: this.#home,
        GIT_CONFIG_GLOBAL: this.#configFile,
        GIT_ALLOW_PROTOCOL: protocols.join(':'),
        ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
        [gitMark]: directory,
      },
    });
    const end = () => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    let stopped: { reason: unknown } | undefined;
    const stop = (reason: unknown) => {
      stopped ??= { reason };
      end();
    };
    const onAbort = () => stop(signal.reason);
    signal.addEventListener('abort', onAbort);
    const [kept, said] = [new Tail(maxKeptBytes), new Tail(maxErrorBytes)];
    child.stdout?.on('data', (bytes: Buffer) => {
      try {
        if (onOutput) onOutput(bytes);
        else kept.add(bytes);
      } catch (error) {
        stop(error);
      }
    });
    child.stderr?.on('data', (bytes: Buffer) => said.add(bytes));
    // It may end before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    try {
      const [code, by] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (...ended) => resolve(ended));
        child.once('exit', end);
      });
      if (stopped) throw stopped.reason;
      if (code !== 0) throw this.#failed(args, code ?? by ?? -1, said.text, remote);
      return kept.text;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** The proxy for an address, and whom to trust; nothing for what stays on this host. */
  #wayTo(remote: string | undefined): Record<string, string> {
    if (remote === undefined) return {};
    const proxy = this.#proxyTo(remote);
    const authorities = this.options.environment?.GIT_SSL_CAINFO ?? '';
    return {
      ...(proxy ? { http_proxy: proxy.url.href, https_proxy: proxy.url.href } : {}),
      ...(authorities === '' ? {} : { GIT_SSL_CAINFO: authorities }),
    };
  }

  #proxyTo(remote = ''): Proxy | undefined {
    const address = URL.parse(remote);
    return address ? this.#proxies.proxyFor(address) : undefined;
  }

  #failed(
    args: readonly string[],
    ended: number | NodeJS.Signals,
    diagnostics: string,
    remote: string | undefined,
  ): GitFailed {
    const proxy = this.#proxyTo(remote);
    const clean = createRedactor(this.#proxies.secrets).redact(diagnostics);
    return new GitFailed(args, ended, clean, proxy && shownProxy(proxy));
  }

  async #open(): Promise<void> {
    const { directory } = this.options;
    await killMarked([`${gitMark}=${directory}`], orphanPatienceMs);
    await mkdir(this.#home, { recursive: true, mode: 0o700 });
    await writeFileAtomically(this.#configFile, gitConfig);
  }
}

/** The end of an output. */
class Tail {
  #bytes = Buffer.alloc(0);

  constructor(private readonly most: number) {}

  add(bytes: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, bytes]).subarray(-this.most);
  }

  get text(): string {
    return this.#bytes.toString('utf8');
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
}
