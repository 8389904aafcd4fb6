const excerptLength = 160;

/** The beginning of a text on one line, as lists and the timeline show it. */
export function excerptOf(body: string): string {
  const line = body.replace(/\s+/g, ' ').trim();
  const points = Array.from(line.slice(0, 2 * excerptLength));
  return points.length <= excerptLength && line.length <= 2 * excerptLength
    ? line
    : `${points.slice(0, excerptLength - 1).join('')}…`;
}
