import { type DestinationStream, type Level, type Logger as PinoLogger, pino } from 'pino';
import { createRedactor, redacted, type Redactor } from './redactor.js';

export type Logger = PinoLogger;
export type LogLevel = Level | 'silent';

export interface LoggerOptions {
  /** The service that logs. */
  service: string;
  /** @default 'info' */
  level?: LogLevel;
  /** The destination of lines. @default standard output */
  destination?: DestinationStream;
  /** Removes the secrets of this process. @default one that knows only the form of Suzumio's tokens */
  redactor?: Redactor;
}

const secretFields = [
  'authorization',
  'cookie',
  'token',
  'leaseToken',
  'toolToken',
  'adminToken',
  'apiKey',
  'credential',
  'password',
  'secret',
];

/**
 * A logger that writes one JSON object a line, with ISO time and without secrets: redacted by field name, and again in
 * the finished line.
 */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput();
  const redactor = options.redactor ?? createRedactor();
  const guarded: DestinationStream = {
    write(line) {
      try {
        destination.write(redactor.redact(line));
      } catch {
        // A service keeps running without its log: the log's disk may be full.
      }
    },
  };
  return pino(
    {
      base: { service: options.service },
      level: options.level ?? 'info',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: redacted,
      },
    },
    guarded,
  );
}

/**
 * Never blocks on a slow reader, and never ends the process: lines that cannot be written are buffered up to a limit,
 * then dropped.
 */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ fd: 1, sync: true, maxLength: 1024 * 1024 });
  destination.on('error', () => undefined);
  return destination;
}

/** A logger without output: for tests, and for commands that print for people. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
