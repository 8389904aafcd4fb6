import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '@suzumio/core/config/environment';
import { configDefaults } from '@suzumio/core/config/defaults';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { checkDocker, howToHave } from '@suzumio/turn-worker';
import { broken, type Finding, ok } from './check.js';

/** What turns are to run in. */
export interface EngineCheck {
  /** Leads to the engine, as for Docker's own command. */
  readonly environment: Environment;
  readonly image?: string;
}

const doors = {
  socket: 'a socket, containers without network',
  stdio: 'standard input and output, containers without network',
};

/** Engine, image and door, as far as they could be tried. */
export async function checkEngine(root: string, { environment, image }: EngineCheck): Promise<Finding[]> {
  const runner = image ?? configDefaults.backend.image;
  // Where turns will run, so that what containers see of it is what they will see then.
  const directory = await probeDirectory(root);
  try {
    const report = await checkDocker({ image: runner, directory, environment });
    const problem = report.problem?.message ?? '';
    if (report.version === undefined) return [broken('docker', problem, report.remedy ?? '')];
    const docker = ok('docker', `engine ${report.version}`);
    if (report.image !== true) {
      return [docker, broken('image', problem, howToHave(runner))];
    }
    const found = [docker, checkRunner(runner, report.missingToolpacks ?? [])];
    if (report.door !== undefined) return [...found, ok('door', doors[report.door])];
    return [...found, broken('door', problem, 'put the data directory where containers can see it, as SUZUMIO_ROOT')];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const listed = new Intl.ListFormat('en-GB');

function checkRunner(image: string, missing: readonly string[]): Finding {
  if (missing.length === 0) return ok('image', image);
  const what = `${image} is of an earlier release: its runner has no tools of the toolpacks ${listed.format(missing)}`;
  return broken('image', what, howToHave(image));
}

/** In the data directory where that can be written to, else among temporary files. */
async function probeDirectory(root: string): Promise<string> {
  try {
    return await mkdtemp(join(existsSync(root) ? root : tmpdir(), '.doctor-'));
  } catch (error) {
    if (!existsSync(root))
      throw new Error(`there is no place for temporary files: ${messageOf(error)}`, { cause: error });
    return mkdtemp(join(tmpdir(), '.doctor-'));
  }
}
