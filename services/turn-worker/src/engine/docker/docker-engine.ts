import type Docker from 'dockerode';
import type { Container, ContainerInfo, ImageInspectInfo } from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { defaultTurnDir } from '@suzumio/protocol/door';
import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { hasDescriptorPaths } from '../../files/open-directory.js';
import { AttemptFailure } from '../attempt-failure.js';
import type { Owner } from '../../workspace/restore.js';
import { LogTail } from '../log-tail.js';
import type { AttemptPlace, PreparedSandbox, Sandbox, StartOptions, Tenant, TurnEngine } from '../turn-engine.js';
import { artifactsIn, artifactsMounts } from './artifacts-mounts.js';
import { type Connection, connectionOf, shimPath } from './connection.js';
import { ContainerEnds } from './container-ends.js';
import { type BindMount, containerOptions } from './container-options.js';
import { DockerSandbox } from './docker-sandbox.js';
import { engineClient } from './engine-client.js';
import { engineFailure, statusOf } from './engine-errors.js';
import { environmentVariables, homePath } from './environment-variables.js';
import { agentFilter, isLater, runnerEntrypoint, toolpacksIn, turnLabels, workerLabel } from './labels.js';
import { howToHave } from './own-image.js';
import { probeEngine } from './probe.js';
import { requireUnmovable } from './require-unmovable.js';
import { StdioAttachment } from './stdio-attachment.js';
import { sandboxOwner } from './sandbox-owner.js';
import { TurnContainers } from './turn-containers.js';
import { unlinkedBytes } from './unlinked-bytes.js';

export interface DockerEngineOptions {
  /** This worker's id: its containers are labelled with it. */
  worker: string;
  workerDir: string;
  door: 'auto' | 'socket' | 'stdio';
  /** `uid:gid` of containers without a user in the project file. */
  turnUser?: string | undefined;
  /** The image that probes use. */
  probeImage: string;
  /** The shim, below the worker's directory so that containers can see it. */
  shimFile: string;
  /** The `/etc/hosts` of sealed containers, below the worker's directory too. */
  hostsFile: string;
  /** The address of relays, where this worker cannot detect it. */
  relayHost?: string | undefined;
  /** The engine's socket. @default where Docker's own tools look for it */
  socketPath?: string | undefined;
  logger: Logger;
  /** Called when the engine may be unavailable and should be probed. */
  onSuspect: () => void;
}

const callTimeoutMs = 60_000;
const workspacePath = '/workspace';
const toolpacksPath = '/suzumio/toolpacks';
const hostsPath = '/etc/hosts';
const closePatienceMs = 10_000;

/** Turns in containers of a Docker engine. */
export class DockerEngine implements TurnEngine {
  #name = 'docker';
  #stateDirectories: string[] = [];
  readonly #docker: Docker;
  /** A client without a timeout, for streams that may be silent for long. */
  readonly #streams: Docker;
  readonly #ends: ContainerEnds;
  readonly #containers: TurnContainers;
  #opened = false;
  #door: 'socket' | 'stdio' | undefined;

  constructor(private readonly options: DockerEngineOptions) {
    const { worker, socketPath, door, logger, onSuspect } = options;
    this.#docker = engineClient({ socketPath, timeoutMs: callTimeoutMs });
    this.#streams = engineClient({ socketPath });
    this.#ends = new ContainerEnds({ docker: this.#streams, label: workerLabel(worker), logger, onLost: onSuspect });
    this.#containers = new TurnContainers({ docker: this.#docker, worker, startWithinMs: callTimeoutMs, logger });
    this.#door = door === 'auto' ? undefined : door;
  }

  get name(): string {
    return this.#name;
  }

  get stateDirectories(): readonly string[] {
    return this.#stateDirectories;
  }

  async probe(): Promise<void> {
    const { probeImage, worker, workerDir } = this.options;
    await this.#open();
    await this.#image(probeImage);
    const owner = sandboxOwner({ turn: this.options.turnUser });
    const { socket } = await probeEngine({ docker: this.#docker, image: probeImage, worker, workerDir, owner });
    if (this.#door === undefined) {
      this.#door = socket ? 'socket' : 'stdio';
      this.options.logger.info({ door: this.#door }, 'detected how containers reach the worker');
    } else if (this.#door === 'socket' && !socket) {
      throw new AttemptFailure(
        'container-start-failed',
        'A socket of the worker cannot be reached from inside a container here; use SUZUMIO_DOOR=stdio or auto.',
      );
    }
  }

  async evict(place: AttemptPlace): Promise<boolean> {
    const isOver = (labels: ContainerInfo['Labels']) => isLater(labels, place);
    return (await this.#containers.removeRunning(agentFilter(place), isOver)) === 0;
  }

  async prepare(limits: SandboxLimits, project: Tenant): Promise<PreparedSandbox> {
    const image = await this.#image(limits.image);
    const owner = sandboxOwner({ asked: limits.user, turn: this.options.turnUser }, project);
    const connection = await connectionOf({
      docker: this.#docker,
      image,
      limits,
      door: this.#door ?? 'socket',
      relayHost: this.options.relayHost,
    });
    const toolpacks = toolpacksIn(image.Config.Labels);
    return {
      owner,
      door: connection.door,
      toolpacks,
      announcesWrites: toolpacks.length > 0 && startsRunner(image) && connection.door.kind !== 'elsewhere',
      workspaceSeen: () => workspacePath,
      artifactsSeen: (_directories, agent) => artifactsIn(agent),
      toolpacksSeen: () => toolpacksPath,
      controllerUrl: (door) => connection.controllerUrl(door),
      start: async (start) => this.#start(start, { image: image.Id, owner, limits, connection }),
    };
  }

  async images(): Promise<string[]> {
    const images = await this.#docker.listImages();
    return images.flatMap(({ RepoTags: tags, RepoDigests: digests }) => [...(tags ?? []), ...(digests ?? [])]);
  }

  async kept(): Promise<ProjectRef[]> {
    return this.#containers.kept();
  }

  async sweep(isGone: (project: ProjectRef) => boolean): Promise<void> {
    await this.#containers.sweep(isGone);
  }

  async close(): Promise<void> {
    await Promise.race([this.#containers.settled(), sleep(closePatienceMs, undefined, { ref: false })]);
    if (this.#opened) await this.#ends.close();
  }

  async #open(): Promise<void> {
    if (this.#opened) return;
    try {
      const { ID: id, DockerRootDir: state } = (await this.#docker.info()) as { ID: string; DockerRootDir?: string };
      this.#name = `docker:${id}`.slice(0, 100);
      this.#stateDirectories = state === undefined ? [] : [state];
      await this.#containers.removeRunning([workerLabel(this.options.worker)]);
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
      throw new AttemptFailure('image-missing', `The engine has no image ${name}: ${howToHave(name)}.`, {
        cause: error,
      });
    }
  }

  async #start(
    start: StartOptions,
    plan: { image: string; owner: Owner; limits: SandboxLimits; connection: Connection },
  ): Promise<Sandbox> {
    const { worker, logger } = this.options;
    const { image, owner, limits, connection } = plan;
    const { entrypoint, network } = connection;
    const { maxFileBytes, maxLogBytes } = start;
    const stdio = connection.door.kind === 'connections';
    let container: Container | undefined;
    let stopWaiting: (() => void) | undefined;
    let attachment: StdioAttachment | undefined;
    try {
      container = await this.#docker.createContainer(
        containerOptions({
          image,
          user: `${owner.uid}:${owner.gid}`,
          limits,
          labels: turnLabels(worker, start.ref, limits),
          environment: environmentVariables(limits, start),
          network,
          mounts: this.#mounts(start, connection),
          maxFileBytes,
          maxLogBytes,
          attached: stdio,
          ...(entrypoint ? { entrypoint } : {}),
        }),
      );
      const created = container;
      this.#containers.begin(created.id);
      const { end, disturbed, forget } = this.#ends.of(created.id);
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
      await requireUnmovable(this.#docker, created.id, start);
      await created.start();
      return new DockerSandbox({
        container: created,
        ended: end,
        disturbed,
        look: () => this.#ends.look(created.id),
        unlinkedBytes: () => this.#unlinkedBytes(created.id),
        attachment: attachment && { stdio: attachment, log },
        maxLogBytes,
        pauses: !hasDescriptorPaths,
        wrapped: entrypoint !== undefined,
        release: (outcome) => {
          forget();
          this.#containers.release(created, limits, outcome);
        },
      });
    } catch (error) {
      stopWaiting?.();
      await attachment?.close();
      if (container) this.#containers.release(container, { keep: 'never' }, 'failed');
      throw engineFailure(error, 'start the container');
    }
  }

  async #unlinkedBytes(container: string): Promise<number> {
    const { probeImage: image, worker, logger } = this.options;
    return unlinkedBytes({ docker: this.#docker, image, worker, container }).catch((error: unknown) => {
      // For instance, the container has just ended, or its runtime does not show its processes.
      logger.warn({ err: error, container }, 'the open files of a container could not be measured');
      return 0;
    });
  }

  #mounts(start: StartOptions, { door, entrypoint, network }: Connection): BindMount[] {
    const inTurn = (name: string) => join(defaultTurnDir, name);
    const needsHosts = network.mode === 'none' && !start.mounts.some(({ target }) => target === hostsPath);
    return [
      { source: start.turnDirectory, target: defaultTurnDir, writable: true },
      { source: join(start.turnDirectory, 'input.json'), target: inTurn('input.json') },
      { source: start.workspace, target: workspacePath, writable: true },
      ...artifactsMounts(start),
      ...(start.home === undefined ? [] : [{ source: start.home, target: homePath, writable: true }]),
      ...(start.toolpacks === undefined ? [] : [{ source: start.toolpacks, target: toolpacksPath }]),
      ...(door.kind === 'socket' ? [{ source: start.doorDirectory, target: inTurn('door') }] : []),
      ...(entrypoint ? [{ source: this.options.shimFile, target: shimPath }] : []),
      ...(needsHosts ? [{ source: this.options.hostsFile, target: hostsPath }] : []),
      ...start.mounts.map(({ source, target, readonly }) => ({ source, target, writable: !readonly })),
    ];
  }
}

/** Whether an image starts Suzumio's own runner. An image that is built on it may start something else first. */
function startsRunner({ Config: { Entrypoint: entrypoint } }: ImageInspectInfo): boolean {
  return [entrypoint].flat().join(' ') === runnerEntrypoint;
}
