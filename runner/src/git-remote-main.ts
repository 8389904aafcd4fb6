import { readFileSync } from 'node:fs';
import { exitCodeOf } from './exit-code.js';
import { serveRemote } from './git/remote-helper.js';
import { sendReceived } from './git/send-received.js';
import { SharedDoor } from './git/shared-door.js';

// Git starts this twice: as the helper for addresses that begin with `suzumio::`, and as the hook of the mirror to which the
// helper lets it push.

const { argv, env, stderr } = process;

const log = (line: string) => stderr.write(`suzumio: ${line}\n`);

const code = await exitCodeOf('suzumio', stderr, async () => {
  const door = await SharedDoor.open({ env, log });
  if (argv[2] !== '--received') return serveRemote(door, argv[3] ?? '', { env, log });
  await sendReceived(door, readFileSync(0, 'utf8'), env);
  return 0;
});
process.exit(code);
