// Summarises a gauge's readings: node summarise.mjs FILE.csv [--fastest]
// Every figure names the line of the file that it was read from.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const [file, mode] = process.argv.slice(2);
const text = readFileSync(file, 'utf8');
const gauge = file.replace(/\.csv$/, '');
const readings = text
  .trimEnd()
  .split('\n')
  .map((row, index) => ({ row, line: index + 1 }))
  .slice(1)
  .map(({ row, line }) => {
    const [time, level] = row.split(',');
    return { time, centimetres: Number(level), line };
  });

const metres = (centimetres) => `${(centimetres / 100).toFixed(2)} m`;
const at = ({ time, centimetres, line }) => `${metres(centimetres)} at ${time} (${file}, line ${line})`;
const best = (better) => readings.reduce((found, reading) => (better(reading, found) ? reading : found));

function summary() {
  const first = readings[0];
  const last = readings.at(-1);
  const rise = last.centimetres - first.centimetres;
  const highest = best((a, b) => a.centimetres > b.centimetres);
  const lowest = best((a, b) => a.centimetres < b.centimetres);
  const mean = readings.reduce((sum, { centimetres }) => sum + centimetres, 0) / readings.length;
  return [
    `## The ${gauge} gauge`,
    '',
    `The water stands at ${at(last)}, ${metres(Math.abs(rise))} ${rise < 0 ? 'lower' : 'higher'} than the first reading of the day, ${at(first)}.`,
    `The highest of ${readings.length} readings was ${at(highest)}, the lowest ${at(lowest)}; their mean is ${metres(mean)}.`,
    `The readings have the SHA-256 ${createHash('sha256').update(text).digest('hex').slice(0, 12)}.`,
  ];
}

function fastest() {
  const steps = readings.slice(1).map((to, index) => ({ from: readings[index], to }));
  const rise = ({ from, to }) => to.centimetres - from.centimetres;
  const steepest = steps.reduce((found, step) => (rise(step) > rise(found) ? step : found));
  return [
    `The ${gauge} gauge rose fastest between ${steepest.from.time} and ${steepest.to.time}: by ${metres(rise(steepest))}, ` +
      `from ${at(steepest.from)} to ${at(steepest.to)}.`,
  ];
}

console.log((mode === '--fastest' ? fastest() : summary()).join('\n'));
