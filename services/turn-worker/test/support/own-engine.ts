import Docker from 'dockerode';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, createWriteStream, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { docker } from './images.js';
import { until } from './until.js';

/**
 * A Docker engine of a test's own, which it may restart and kill: with its own bridge, state and containerd, so that the
 * engine of everybody else does not notice. For root on Linux.
 */
export class OwnEngine {
  readonly docker: Docker;
  readonly socket: string;
  readonly #bridge = `sz${randomBytes(4).toString('hex')}`;
  #containerd: ChildProcess | undefined;
  #daemon: ChildProcess | undefined;

  private constructor(private readonly directory: string) {
    this.socket = `${directory}/docker.sock`;
    this.docker = new Docker({ socketPath: this.socket });
  }

  static async open(): Promise<OwnEngine> {
    const engine = new OwnEngine(await mkdtemp('/tmp/suzumio-dockerd-'));
    // Without one of its own, an engine takes away that of another.
    execFileSync('ip', ['link', 'add', engine.#bridge, 'type', 'bridge']);
    execFileSync('ip', ['addr', 'add', '172.31.213.1/24', 'dev', engine.#bridge]);
    execFileSync('ip', ['link', 'set', engine.#bridge, 'up']);
    try {
      await engine.start();
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Copies an image of the engine that everybody uses. */
  async copyImage(name: string): Promise<void> {
    const file = `${this.directory}/image.tar`;
    const image = await docker.getImage(name).get();
    const written = createWriteStream(file);
    image.pipe(written);
    await once(written, 'finish');
    const answer = await this.docker.loadImage(file);
    answer.resume();
    await once(answer, 'end');
    await rm(file);
  }

  async start(): Promise<void> {
    const own = (name: string) => `${this.directory}/${name}`;
    const containerd = own('containerd.sock');
    this.#containerd ??= this.#spawn('containerd', ['--root', own('c'), '--state', own('s'), '--address', containerd]);
    const daemon = this.#spawn('dockerd', [
      ...['--host', `unix://${this.socket}`, '--pidfile', own('pid'), '--containerd', containerd],
      ...['--data-root', own('data'), '--exec-root', own('exec')],
      ...['--bridge', this.#bridge, '--iptables=false', '--ip-masq=false'],
    ]);
    this.#daemon = daemon;
    await until(async () => {
      if (daemon.exitCode !== null) throw new Error(await readFile(own('dockerd.log'), 'utf8'));
      return this.docker.ping().then(
        () => true,
        () => false,
      );
    }, 'the engine to answer');
  }

  #spawn(program: 'containerd' | 'dockerd', options: string[]): ChildProcess {
    const log = openSync(`${this.directory}/${program}.log`, 'a');
    const child = spawn(program, options, { stdio: ['ignore', log, log] });
    closeSync(log);
    return child;
  }

  /** Ends the engine as its service manager does (SIGTERM), or as a crash (SIGKILL). */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    await endProcess(this.#daemon, signal);
  }

  async close(): Promise<void> {
    await this.end('SIGTERM');
    await endProcess(this.#containerd, 'SIGTERM');
    execFileSync('ip', ['link', 'delete', this.#bridge]);
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
    for (const path of mounts.filter((mount) => mount.startsWith(`${this.directory}/`)).reverse())
      execFileSync('umount', ['--lazy', path]);
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function endProcess(child: ChildProcess | undefined, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child?.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}
