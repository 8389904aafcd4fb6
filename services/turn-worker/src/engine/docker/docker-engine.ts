import Docker, { type Container, type ImageInspectInfo } from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { defaultTurnDir, doorSocket, shimPort, stdioDoorUrl, unixDoorPrefix } from '@suzumio/shared/protocol/door';
import type { SandboxLimits } from '@suzumio/shared/protocol/attempts';
import type { Logger } from '@suzumio/shared/observability/logger';
import { AttemptFailure } from '../../attempt/attempt-failure.js';
import { LogTail } from '../log-tail.js';
import type { AgentRef, PreparedSandbox, Sandbox, StartOptions, TurnEngine } from '../turn-engine.js';
import { ContainerEnds } from './container-ends.js';
import { containerOptions } from './container-options.js';
import { DockerSandbox } from './docker-sandbox.js';
import { engineFailure, statusOf } from './engine-errors.js';
import { agentFilter, keepForLabel, runnerLabel, turnLabels, workerLabel } from './labels.js';
import { probeEngine } from './probe.js';
import { StdioAttachment } from './stdio-attachment.js';
import { sandboxOwner } from './sandbox-owner.js';

export interface DockerEngineOptions {
  /** This worker's id: its containers are labelled with it. */
  worker: string;
  workerDir: string;
  door: 'auto' | 'socket' | 'stdio';
  /** The image that probes use. */
  probeImage: string;
  /** The shim, below the worker's directory: containers must see it. */
  shimFile: string;
  /** Where the engine listens, if not where Docker's own tools look. */
  socketPath?: string | undefined;
  logger: Logger;
  /** The engine may be away: probe it. */
  onSuspect: () => void;
}

const callTimeoutMs = 60_000;
const closePatienceMs = 10_000;
const shimPath = '/turn-shim/shim.mjs';
const mayRun = ['created', 'running', 'paused', 'restarting'];

/** Turns in sealed containers of a Docker engine. */
export class DockerEngine implements TurnEngine {
  #name = 'docker';
  readonly #docker: Docker;
  /** Without a time limit, for streams that are silent for long. */
  readonly #streams: Docker;
  readonly #ends: ContainerEnds;
  readonly #live = new Set<string>();
  readonly #background = new Set<Promise<void>>();
  #opened = false;
  #door: 'socket' | 'stdio' | undefined;

  constructor(private readonly options: DockerEngineOptions) {
    const { worker, socketPath, door, logger, onSuspect } = options;
    const where = socketPath === undefined ? {} : { socketPath };
    this.#docker = new Docker({ ...where, timeout: callTimeoutMs });
    this.#streams = new Docker(where);
    this.#ends = new ContainerEnds({ docker: this.#streams, label: workerLabel(worker), logger, onLost: onSuspect });
    this.#door = door === 'auto' ? undefined : door;
  }

  get name(): string {
    return this.#name;
  }

  async probe(): Promise<void> {
    const { probeImage, worker, workerDir } = this.options;
    await this.#open();
    await this.#image(probeImage);
    const owner = sandboxOwner(undefined);
    const { socket } = await probeEngine({ docker: this.#docker, image: probeImage, worker, workerDir, owner });
    if (this.#door === undefined) {
      this.#door = socket ? 'socket' : 'stdio';
      this.options.logger.info({ door: this.#door }, 'containers reach the worker through this door');
    } else if (this.#door === 'socket' && !socket) {
      throw new AttemptFailure(
        'container-start-failed',
        'A socket of the worker cannot be reached from inside a container here; use SUZUMIO_DOOR=stdio or auto.',
      );
    }
  }

  async evict(agent: AgentRef): Promise<void> {
    await this.#removeAll(agentFilter(agent));
  }

  async prepare(limits: SandboxLimits): Promise<PreparedSandbox> {
    const image = await this.#image(limits.image);
    const owner = sandboxOwner(limits.user);
    const stdio = this.#door === 'stdio';
    const labels = (image.Config.Labels as Record<string, string> | null) ?? {};
    const wrapped = labels[runnerLabel] !== '1';
    const entrypoint = wrapped ? ['node', shimPath, ...commandOf(image, limits.image)] : undefined;
    return {
      owner,
      door: stdio ? 'connections' : 'socket',
      workspaceSeen: () => '/workspace',
      controllerUrl: () => {
        if (wrapped) return `http://127.0.0.1:${shimPort}`;
        return stdio ? stdioDoorUrl : `${unixDoorPrefix}${defaultTurnDir}/${doorSocket}`;
      },
      start: async (start) => {
        const user = `${owner.uid}:${owner.gid}`;
        return this.#start(start, { image: image.Id, user, limits, entrypoint, stdio });
      },
    };
  }

  async sweep(): Promise<void> {
    const filters = { label: [workerLabel(this.options.worker)], status: ['exited', 'dead', 'created'] };
    for (const { Id: id, Labels: labels } of await this.#docker.listContainers({ all: true, filters })) {
      const container = this.#docker.getContainer(id);
      const overSince = await this.#overSince(container);
      if (overSince === undefined || this.#live.has(id)) continue;
      if (Date.now() - overSince >= Number(labels[keepForLabel] ?? 0)) await this.#remove(container);
    }
  }

  async close(): Promise<void> {
    await Promise.race([Promise.all(this.#background), sleep(closePatienceMs, undefined, { ref: false })]);
    if (this.#opened) await this.#ends.close();
  }

  async #open(): Promise<void> {
    if (this.#opened) return;
    try {
      const { ID: id } = (await this.#docker.info()) as { ID: string };
      this.#name = `docker:${id}`.slice(0, 100);
      await this.#removeAll([workerLabel(this.options.worker)]);
      await this.#ends.open();
    } catch (error) {
      throw engineFailure(error, 'be asked for its containers');
    }
    this.#opened = true;
  }

  async #image(name: string): Promise<ImageInspectInfo> {
    try {
      return await this.#docker.getImage(name).inspect();
    } catch (error) {
      if (statusOf(error) !== 404) throw engineFailure(error, 'look for the image');
      throw new AttemptFailure(
        'image-missing',
        `The engine has no image ${name}. Pull it, or build it: npm run images.`,
        { cause: error },
      );
    }
  }

  async #start(
    start: StartOptions,
    plan: { image: string; user: string; limits: SandboxLimits; entrypoint: string[] | undefined; stdio: boolean },
  ): Promise<Sandbox> {
    const { worker, logger, shimFile } = this.options;
    const { entrypoint, stdio, limits } = plan;
    const inTurn = (name: string) => join(defaultTurnDir, name);
    const mounts = [
      { source: start.turnDirectory, target: defaultTurnDir, writable: true },
      { source: join(start.turnDirectory, 'input.json'), target: inTurn('input.json') },
      { source: start.workspace, target: '/workspace', writable: true },
      ...(stdio ? [] : [{ source: start.doorDirectory, target: inTurn('door') }]),
      ...(entrypoint ? [{ source: shimFile, target: shimPath }] : []),
    ];
    let container: Container | undefined;
    let stopWaiting: (() => void) | undefined;
    let attachment: StdioAttachment | undefined;
    try {
      const labels = turnLabels(worker, start.ref, limits);
      const { maxFileBytes, maxLogBytes } = start;
      const { image, user } = plan;
      container = await this.#docker.createContainer(
        containerOptions({
          image,
          user,
          limits,
          labels,
          mounts,
          maxFileBytes,
          maxLogBytes,
          attached: stdio,
          ...(entrypoint ? { entrypoint } : {}),
        }),
      );
      const created = container;
      this.#live.add(created.id);
      const { end, forget } = this.#ends.of(created.id);
      stopWaiting = forget;
      const log = new LogTail(maxLogBytes);
      attachment = stdio
        ? new StdioAttachment({
            container: this.#streams.getContainer(created.id),
            ended: end,
            onConnection: start.onConnection,
            onLog: (chunk) => log.write(chunk),
            logger,
          })
        : undefined;
      await attachment?.open();
      await created.start();
      return new DockerSandbox({
        container: created,
        ended: end,
        look: () => this.#ends.look(created.id),
        attachment: attachment && { stdio: attachment, log },
        maxLogBytes,
        wrapped: entrypoint !== undefined,
        release: (outcome) => this.#release(created, limits, outcome),
      });
    } catch (error) {
      stopWaiting?.();
      await attachment?.close();
      if (container) this.#release(container, { ...limits, keep: 'never' }, 'failed');
      throw engineFailure(error, 'start the container');
    }
  }

  #release(container: Container, { keep }: Pick<SandboxLimits, 'keep'>, outcome: 'completed' | 'failed'): void {
    this.#live.delete(container.id);
    if (keep === 'always' || (keep === 'failed' && outcome === 'failed')) return;
    const removal = this.#remove(container)
      .catch((error: unknown) =>
        this.options.logger.warn(
          { err: error, container: container.id },
          'a container could not be removed; the sweep will try again',
        ),
      )
      .finally(() => this.#background.delete(removal));
    this.#background.add(removal);
  }

  async #removeAll(labels: string[]): Promise<void> {
    try {
      const filters = { label: labels, status: mayRun };
      const found = await this.#docker.listContainers({ all: true, filters });
      await Promise.all(found.map(({ Id: id }) => this.#remove(this.#docker.getContainer(id))));
    } catch (error) {
      throw engineFailure(error, 'remove older containers');
    }
  }

  /** Since when a container is of no use any more; undefined while it may be, or where it is gone. */
  async #overSince(container: Container): Promise<number | undefined> {
    try {
      const { State: state, Created: created } = await container.inspect();
      // One that never ran may just be about to: whoever made it has this long to start it.
      if (state.Status === 'created') return Date.parse(created) + callTimeoutMs;
      if (mayRun.includes(state.Status)) return undefined;
      return Math.max(Date.parse(state.FinishedAt), Date.parse(created));
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  /** Kills it, if need be, and resolves when it is gone. */
  async #remove(container: Container): Promise<void> {
    try {
      await container.remove({ force: true, v: true });
    } catch (error) {
      if (statusOf(error) === 404) return;
      // Somebody else is removing it.
      if (statusOf(error) !== 409) throw error;
      await container.wait({ condition: 'removed' }).catch((gone: unknown) => {
        if (statusOf(gone) !== 404) throw gone;
      });
    }
  }
}

function commandOf(image: ImageInspectInfo, name: string): string[] {
  const { Entrypoint: entrypoint, Cmd: cmd } = image.Config as { Entrypoint?: string[] | null; Cmd?: string[] | null };
  const command = [...(entrypoint ?? []), ...(cmd ?? [])];
  if (command.length > 0) return command;
  throw new AttemptFailure(
    'container-start-failed',
    `The image ${name} says neither an entrypoint nor a command to run.`,
  );
}
