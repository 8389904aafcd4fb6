// Loaded into a process (`--import`): at SIGWINCH, which does nothing to others, it writes what the process holds, garbage
// left out, into a file of the directory that FUZZ_VITALS names.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
let number = 0;

process.on('SIGWINCH', async () => {
  for (let round = 0; round < 3; round += 1) {
    gc();
    await sleep(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  const file = join(process.env.FUZZ_VITALS, `${process.pid}.json`);
  number += 1;
  writeFileSync(
    `${file}.tmp`,
    JSON.stringify({ number, heapUsed, external, resources: process.getActiveResourcesInfo() }),
  );
  renameSync(`${file}.tmp`, file);
});
