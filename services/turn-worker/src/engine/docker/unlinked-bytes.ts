import type Docker from 'dockerode';
import { setTimeout as sleep } from 'node:timers/promises';
import { withoutNetwork } from './container-options.js';
import { probeLabels } from './labels.js';

export interface UnlinkedBytesOptions {
  docker: Docker;
  /** An image of this worker's own, with `node`. */
  image: string;
  worker: string;
  /** The container to inspect. */
  container: string;
}

const mib = 1024 * 1024;
const patienceMs = 10_000;
/** How many open files are looked at, those of each thread: few turns have a hundredth of it, and it takes about a second. */
const mostLooks = 500_000;

/**
 * Runs beside the container's processes: adds up their unlinked open files on the workspace's file system. A thread may
 * have open files of its own.
 */
const script = `
const fs = require('node:fs');
const names = (directory) => { try { return fs.readdirSync(directory); } catch { return []; } };
const { dev } = fs.statSync('/proc/1/root/workspace');
const sizes = new Map();
let looks = 0;
for (const pid of names('/proc').filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid))
  for (const thread of names('/proc/' + pid + '/task')) {
    const open = '/proc/' + pid + '/task/' + thread + '/fd/';
    for (const file of names(open)) {
      if ((looks += 1) > ${String(mostLooks)}) { console.log('Infinity'); process.exit(); }
      try {
        const stat = fs.statSync(open + file);
        if (stat.isFile() && stat.nlink === 0 && stat.dev === dev) sizes.set(stat.ino, stat.blocks * 512);
      } catch {}
    }
  }
let bytes = 0;
for (const size of sizes.values()) bytes += size;
console.log(bytes);
`;

/**
 * How much of the disk a running container holds in unlinked open files. Only the system's list of open files shows
 * them, and only root among the container's processes may read all of it, so a container of the worker's own reads it
 * from there. Files held by a mapping alone, or by a message between two sockets, are missed.
 *
 * @returns Infinity where more files are open than are looked at: the rest may be any size
 * @throws when the engine does not run it, or not in time
 */
export async function unlinkedBytes({ docker, image, worker, container }: UnlinkedBytesOptions): Promise<number> {
  const looker = await docker.createContainer({
    Image: image,
    User: '0:0',
    Labels: probeLabels(worker),
    Entrypoint: ['node', '-e', script],
    ...withoutNetwork,
    HostConfig: {
      PidMode: `container:${container}`,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: ['SYS_PTRACE', 'DAC_READ_SEARCH'],
      SecurityOpt: ['no-new-privileges'],
      Memory: 128 * mib,
      MemorySwap: 128 * mib,
      PidsLimit: 32,
      LogConfig: { Type: 'json-file', Config: { 'max-size': String(mib) } },
    },
  });
  try {
    await looker.start();
    if ((await Promise.race([looker.wait(), sleep(patienceMs, undefined, { ref: false })])) === undefined)
      throw new Error(`Looking for unlinked files took longer than ${patienceMs} ms.`);
    const said = (await looker.logs({ stdout: true })).subarray(logHeaderBytes).toString('utf8');
    if (!/^(\d+|Infinity)\n$/.test(said))
      throw new Error('The container that looks for unlinked files did not say what it found.');
    return Number(said);
  } finally {
    await looker.remove({ force: true, v: true }).catch(() => undefined);
  }
}

/** The length of the header before each chunk of a container's output. */
const logHeaderBytes = 8;
