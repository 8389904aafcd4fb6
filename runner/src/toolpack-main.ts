import { Socket } from 'node:net';
import { ModuleLines } from '@suzumio/protocol/toolpacks/answer';
import type { ToModule } from './toolpacks/module-protocol.js';
import { ServedModule } from './toolpacks/serve-module.js';

// The process of a toolpack's runner module: what it is told, and tells, passes through the third descriptor.

const channel = new Socket({ fd: 3, readable: true, writable: true });
const served = new ServedModule(channel);
const lines = new ModuleLines();

channel.on('data', (chunk: Buffer) => {
  for (const line of lines.take(chunk)) served.take(JSON.parse(line) as ToModule);
});
// What a module leaves behind may break at any time: the runner is told why before its process ends.
process.on('uncaughtException', (error) => {
  console.error(error);
  served.breakDown(error);
  channel.end(() => process.exit(1));
});
// Its runner has ended.
channel.on('close', () => process.exit(0));
