import { renderBody } from './body.js';

/**
 * A prompt in which another text stands in the frame of one message or note. What its body was is known by the frame alone: no
 * line of a body lacks the prefix.
 */
export function redactFrame(prompt: string, id: string, body: string): string {
  const begins = [`[${id} from `, `[${id}, `];
  const end = `[end ${id}]`;
  const lines: string[] = [];
  let inFrame = false;
  for (const line of prompt.split('\n')) {
    if (begins.some((begin) => line.startsWith(begin))) {
      inFrame = true;
      lines.push(line, renderBody(body));
      continue;
    }
    if (line === end) inFrame = false;
    if (inFrame && (line.startsWith('| ') || line.startsWith(`[cut ${id}: `))) continue;
    lines.push(line);
  }
  return lines.join('\n');
}
