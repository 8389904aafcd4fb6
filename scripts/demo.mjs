// npm run demo: from a fresh clone to an approved report.
import process from 'node:process';
import { becomeSuzumio } from './lib/command.mjs';

await becomeSuzumio('demo', ...process.argv.slice(2));
