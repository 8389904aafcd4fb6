// npm start: from a fresh clone to all services in one process, until it is stopped.
// (`exec` in package.json: a signal to npm then reaches this process and not only a shell around it.)
import process from 'node:process';
import { becomeSuzumio } from './lib/command.mjs';

await becomeSuzumio('up', ...process.argv.slice(2));
