import type Docker from 'dockerode';
import type { Container, ContainerInfo, ImageInspectInfo } from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectRef, SandboxLimits } from '@suzumio/protocol/attempts';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { hasDescriptorPaths } from '../../files/open-directory.js';
import { AttemptFailure } from '../attempt-failure.js';
import type { Owner } from '../../workspace/restore.js';
import { LogTail } from '../log-tail.js';
import type { AttemptPlace, PreparedSandbox, Sandbox, StartOptions, Tenant, TurnEngine } from '../turn-engine.js';
import { artifactsIn } from './artifacts-mounts.js';
import { type Connection, connectionOf } from './connection.js';
import { ContainerEnds } from './container-ends.js';
import { containerOptions } from './container-options.js';
import { containerUser, type UserDatabase } from './container-user.js';
import { DockerSandbox } from './docker-sandbox.js';
import type { EngineAddress } from './engine-address.js';
import { engineClient } from './engine-client.js';
import { engineFailure, statusOf } from './engine-errors.js';
import { environmentVariables } from './environment-variables.js';
import { ImageFiles } from './image-files.js';
import { agentFilter, isLater, runnerEntrypoint, toolpacksIn, turnLabels, workerLabel } from './labels.js';
import { howToHave } from './own-image.js';
import { probeEngine } from './probe.js';
import { requireUnmovable } from './require-unmovable.js';
import { StdioAttachment } from './stdio-attachment.js';
import { sandboxOwner } from './sandbox-owner.js';
import { TurnContainers } from './turn-containers.js';
import { toolpacksPath, turnMounts, variablesOf, workspacePath, writeEtcFiles } from './turn-mounts.js';
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
  /** The address of relays, where this worker cannot detect it. */
  relayHost?: string | undefined;
  address: EngineAddress;
  logger: Logger;
  /** Called when the engine may be unavailable and should be probed. */
  onSuspect: () => void;
}

const callTimeoutMs = 60_000;
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
  readonly #files: ImageFiles;
  #opened = false;
  #door: 'socket' | 'stdio' | undefined;

  constructor(private readonly options: DockerEngineOptions) {
    const { worker, address, door, logger, onSuspect } = options;
    this.#docker = engineClient(address, { timeoutMs: callTimeoutMs });
    this.#streams = engineClient(address);
    this.#ends = new ContainerEnds({ docker: this.#streams, label: workerLabel(worker), logger, onLost: onSuspect });
    this.#containers = new TurnContainers({ docker: this.#docker, worker, startWithinMs: callTimeoutMs, logger });
    this.#files = new ImageFiles({ docker: this.#docker, worker });
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
    const users = await this.#files.users(image.Id);
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
      start: async (start) => this.#start(start, { image, owner, users, limits, connection }),
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
    plan: {
      image: ImageInspectInfo;
      owner: Owner;
      users: UserDatabase;
      limits: SandboxLimits;
      connection: Connection;
    },
  ): Promise<Sandbox> {
    const { worker, logger, shimFile } = this.options;
    const { image, owner, users, limits, connection } = plan;
    const { entrypoint, network } = connection;
    const { maxFileBytes, maxLogBytes } = start;
    const stdio = connection.door.kind === 'connections';
    let container: Container | undefined;
    let stopWaiting: (() => void) | undefined;
    let attachment: StdioAttachment | undefined;
    try {
      const environment = environmentVariables(limits, start, image.Config.Env);
      const user = containerUser(users, owner, environment['HOME'], environment['TMPDIR'] ?? '/');
      const etc = await writeEtcFiles(start, user, limits);
      container = await this.#docker.createContainer(
        containerOptions({
          image: image.Id,
          user: `${owner.uid}:${owner.gid}`,
          limits,
          labels: turnLabels(worker, start.ref, limits),
          environment: { ...variablesOf(user, etc), ...environment },
          network,
          mounts: turnMounts(start, connection, { shimFile, etc }),
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
}

/** Whether an image starts Suzumio's own runner. An image that is built on it may start something else first. */
function startsRunner({ Config: { Entrypoint: entrypoint } }: ImageInspectInfo): boolean {
  return [entrypoint].flat().join(' ') === runnerEntrypoint;
}
