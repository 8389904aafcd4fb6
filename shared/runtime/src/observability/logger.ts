import { type DestinationStream, type Level, type Logger as PinoLogger, pino } from 'pino';
import { createRedactor, redacted, type Redactor } from './redactor.js';

export type Logger = PinoLogger;
export type LogLevel = Level | 'silent';

export interface LoggerOptions {
  /** Which service speaks. */
  service: string;
  /** @default 'info' */
  level?: LogLevel;
  /** Where lines go. @default standard output */
  destination?: DestinationStream;
  /** Knows the secrets of this process. @default one that knows only what our tokens look like */
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

/** One JSON object a line, with ISO time and without secrets: by the field's name, and once more in the finished line. */
export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput();
  const redactor = options.redactor ?? createRedactor();
  const guarded: DestinationStream = {
    write(line) {
      try {
        destination.write(redactor.redact(line));
      } catch {
        // A service outlives its log: the disk that it is on may be full.
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

/** Waits for no reader for ever, and ends nothing: what cannot be written is kept up to a bound, and dropped beyond it. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ fd: 1, sync: true, maxLength: 1024 * 1024 });
  destination.on('error', () => undefined);
  return destination;
}

/** Says nothing: for tests and for commands that print for people. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
