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
  const destination = options.destination ?? pino.destination({ fd: 1, sync: true });
  const redactor = options.redactor ?? createRedactor();
  const guarded: DestinationStream = { write: (line) => destination.write(redactor.redact(line)) };
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

/** Says nothing: for tests and for commands that print for people. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
