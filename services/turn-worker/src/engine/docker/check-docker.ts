import type { Environment } from '@suzumio/core/config/environment';
import { sandboxToolpacks } from '@suzumio/protocol/tool-names';
import { AttemptFailure } from '../attempt-failure.js';
import { defaultFrom, type EngineAddress, engineAddress, usualSockets } from './engine-address.js';
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
  /** What mends a problem of finding the engine. */
  remedy?: string;
}

export interface DockerCheck {
  /** The runner image. */
  image: string;
  /** A directory to test whether containers see this host's files; without it, no container is started. */
  directory?: string;
  /** Leads to the engine, as for Docker's own command. */
  environment: Environment;
}

const answerWithinMs = 5_000;
const otherWithinMs = 1_000;

/** Checks whether turns could run in containers here. Never rejects. */
export async function checkDocker({ image, directory, environment }: DockerCheck): Promise<DockerReport> {
  const report: DockerReport = {};
  const address = engineAddress(environment);
  try {
    report.version = (await engineClient(address, { timeoutMs: answerWithinMs }).version()).Version;
    const docker = engineClient(address);
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
    const problem = { code, message };
    if (report.version !== undefined) return { ...report, problem };
    const text = address.kind === 'unusable' ? message : `${message.replace(/\.$/, '')} (${address.from}).`;
    return { problem: { code, message: text }, remedy: await remedyFor(address, environment) };
  }
}

/** Names an engine that answers, if there is one; else what would make the one that was named answer. */
async function remedyFor(address: EngineAddress, environment: Environment): Promise<string> {
  for (const path of usualSockets(environment)) {
    if (address.kind === 'socket' && address.path === path) continue;
    const other = { kind: 'socket', path, from: '' } as const;
    const answers = await engineClient(other, { timeoutMs: otherWithinMs })
      .ping()
      .then(
        () => true,
        () => false,
      );
    if (answers) return `an engine answers at ${path}, use it: export DOCKER_HOST=unix://${path}`;
  }
  const { from } = address;
  if (from === 'DOCKER_HOST')
    return 'start the engine that DOCKER_HOST names, or set it to unix:///PATH of another one';
  if (from === defaultFrom) {
    return 'install Docker or start it (as root: dockerd), and see that you may use its socket';
  }
  return `start the engine of ${from}, or choose another one: docker context use NAME`;
}
