// Prints what the list says of the supplier that a task begins with: node look-up.mjs "Corvo: price, ..."
import { readFileSync } from 'node:fs';

const [name = ''] = (process.argv[2] ?? '').split(':');
const lines = readFileSync('suppliers.csv', 'utf8').trim().split('\n');
const line = lines.findIndex((row) => row.startsWith(`${name},`));
if (line === -1) throw new Error(`the list has no ${name}`);
const [, price, days, onTime] = lines[line].split(',');
console.log(`${name}: ${price} a piece, ${days} days, ${onTime} % on time (suppliers.csv, line ${line + 1})`);
