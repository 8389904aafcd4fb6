import { createLogger, type Logger } from '@suzumio/runtime/observability/logger';

/** A logger whose lines a test can read. */
export function recordingLogger(): { logger: Logger; lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'debug',
    destination: { write: (line) => written.push(line) },
  });
  return { logger, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) };
}
