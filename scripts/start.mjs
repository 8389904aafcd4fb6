// npm start: from a fresh clone to all services in one process, until it is stopped.
import process from 'node:process';
import { becomeSuzumio } from './lib/command.mjs';

await becomeSuzumio('up', ...process.argv.slice(2));
