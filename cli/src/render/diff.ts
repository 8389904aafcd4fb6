import { visibleLines } from '@suzumio/core/prompt/body';
import type { Output } from '../cli-context.js';
import { type Paint, paint } from './colors.js';

/** A unified diff: unchanged into a pipe; in colours, and without control characters, on a terminal. */
export function renderDiff(text: string, out: Pick<Output, 'colors' | 'isTerminal'>): string {
  if (!out.isTerminal) return text;
  const colors = paint(out);
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line) => `${toneOf(line, colors)(visibleLines(line).join(' '))}\n`).join('');
}

function toneOf(line: string, colors: Paint): (text: string) => string {
  if (/^(?:diff --git|---|\+\+\+) /.test(line)) return colors.bold;
  if (line.startsWith('+')) return colors.green;
  if (line.startsWith('-')) return colors.red;
  if (line.startsWith('@@') || line.startsWith('#') || line.startsWith('\\')) return colors.dim;
  return (text) => text;
}
