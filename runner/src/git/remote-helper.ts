import { readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { upstreamUrl } from '@suzumio/protocol/repository';
import { sharedUrl } from '@suzumio/protocol/shared-repository';
import { TurnFailure } from '../turn-failure.js';
import { Mirror } from './mirror.js';
import { ownEnv, runService } from '../work-tree/run-git.js';
import type { SharedDoor } from './shared-door.js';
import { gitVariable } from './shared-turn.js';
import { UpstreamMirror } from './upstream-mirror.js';

/** With which a push is put on record before the mirror takes it. */
const hooks = join(dirname(fileURLToPath(import.meta.url)), 'bin', 'hooks');

const services: Readonly<Record<string, readonly string[]>> = {
  'git-upload-pack': ['upload-pack'],
  'git-receive-pack': [
    '-c',
    `core.hooksPath=${hooks}`,
    '-c',
    'receive.fsckObjects=true',
    '-c',
    'receive.autogc=false',
    'receive-pack',
  ],
};

/**
 * Speaks as a remote helper of Git: it brings the mirror up to date, and connects Git with that.
 *
 * @param address what follows `suzumio::`
 * @returns the exit code
 * @throws TurnFailure
 */
export async function serveRemote(
  door: SharedDoor,
  address: string,
  { env, log }: { env: NodeJS.ProcessEnv; log: (line: string) => void },
): Promise<number> {
  const { upstream } = door.turn;
  const url = `suzumio::${address}`;
  if (url !== sharedUrl && !(url === upstreamUrl && upstream)) {
    throw new TurnFailure(
      `${url} is no repository here: that of a project's agents is ${sharedUrl}, that of a clone, from its second turn on, ${upstreamUrl}`,
    );
  }
  const mirrorEnv = { ...ownEnv(env), [gitVariable]: env[gitVariable] };
  for (;;) {
    const [command = '', name = ''] = readLine().split(' ');
    if (command === '') return 0;
    if (command === 'capabilities') writeSync(1, 'connect\n\n');
    else if (command === 'connect' && services[name]) {
      if (url === upstreamUrl && name !== 'git-upload-pack') {
        throw new TurnFailure(
          'upstream-read-only: nothing is pushed to the repository that a workspace was cloned from',
        );
      }
      const isUpstream = url === upstreamUrl && upstream;
      const mirror = isUpstream
        ? new UpstreamMirror(door, upstream, mirrorEnv)
        : new Mirror(door.turn.mirror, door, mirrorEnv, log);
      await mirror.update();
      writeSync(1, '\n');
      return runService([...services[name], mirror.path], mirrorEnv);
    } else throw new TurnFailure(`Git asks for "${command} ${name}", which is not served`);
  }
}

/** Reads a line, and not a byte more: what follows is for the service. */
function readLine(): string {
  const byte = Buffer.alloc(1);
  let line = '';
  while (readSync(0, byte, 0, 1, null) === 1) {
    if (byte[0] === 10) return line;
    line += byte.toString('latin1');
    if (line.length > 1000) throw new TurnFailure('Git sends no end of a line');
  }
  return line;
}
