import { sandboxToolpacks } from '@suzumio/protocol/tool-names';
import { AttemptFailure } from '../attempt-failure.js';
import { engineClient } from './engine-client.js';
import { engineFailure } from './engine-errors.js';
import { toolpacksIn } from './labels.js';
import { probeEngine } from './probe.js';
import { sandboxOwner } from './sandbox-owner.js';

/** The report of `doctor` on a container engine: how far the check got, and what stopped it. */
export interface DockerReport {
  /** The engine's version, if it answers. */
  version?: string;
  /** Whether the runner image exists; undefined where no engine answers. */
  image?: boolean;
  /** The toolpacks of the sandbox that its runner lacks; undefined without an image. */
  missingToolpacks?: readonly string[];
  /** How containers reach their worker, if one could be started. */
  door?: 'socket' | 'stdio';
  problem?: { code: string; message: string };
}

export interface DockerCheck {
  /** The runner image. */
  image: string;
  /** A directory to test whether containers see this host's files; without it, no container is started. */
  directory?: string;
  dockerSocket?: string;
}

const answerWithinMs = 5_000;

/** Checks whether turns could run in containers here. Never rejects. */
export async function checkDocker({ image, directory, dockerSocket }: DockerCheck): Promise<DockerReport> {
  const report: DockerReport = {};
  try {
    const socketPath = dockerSocket;
    report.version = (await engineClient({ socketPath, timeoutMs: answerWithinMs }).version()).Version;
    const docker = engineClient({ socketPath });
    const images = await docker.listImages({ filters: { reference: [image] } });
    const [found] = images;
    report.image = found !== undefined;
    if (!found) throw new AttemptFailure('image-missing', `The engine has no image ${image}.`);
    const toolpacks = toolpacksIn(found.Labels);
    report.missingToolpacks = sandboxToolpacks.filter((pack) => !toolpacks.includes(pack));
    if (directory === undefined) return report;
    const owner = sandboxOwner({});
    const probe = { docker, image, worker: 'doctor', workerDir: directory, owner };
    return { ...report, door: (await probeEngine(probe)).socket ? 'socket' : 'stdio' };
  } catch (error) {
    const { code, message } = engineFailure(error, 'be looked at');
    return { ...report, problem: { code, message } };
  }
}
