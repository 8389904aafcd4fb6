import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { exitCodes, type ProcessService, runService, type ServiceTools } from '@suzumio/runtime/process/run-service';
import { secretSetting } from '@suzumio/runtime/process/secret-setting';
import {
  controlPlaneEnvironment,
  parseEnvironment,
  serviceEnvironment,
} from '@suzumio/runtime/process/service-environment';
import { freePort } from '../../../../test/support/free-port.js';
import { eventually } from '../../../../test/support/poll.js';

const quiet = { SUZUMIO_LOG_LEVEL: 'silent' };

describe('a service as a process', () => {
  let signals: EventEmitter;
  let calls: string[];
  beforeEach(() => {
    signals = new EventEmitter();
    calls = [];
  });
  afterEach(() => {
    expect(signals.eventNames()).toEqual([]);
  });

  const service = (change: Partial<ProcessService> = {}): ProcessService => ({
    start: () => Promise.resolve(void calls.push('start')),
    stop: () => Promise.resolve(void calls.push('stop')),
    ...change,
  });
  function run(build: (tools: ServiceTools) => ProcessService, stopWithinMs = 5_000, environment = {}) {
    return runService({
      name: 'test',
      schema: serviceEnvironment,
      environment: { ...quiet, ...environment },
      build: (_environment, tools) => build(tools),
      stopWithinMs,
      signals,
    });
  }
  const started = () => eventually('the service starts', () => calls.includes('start'));

  test.each(['SIGTERM', 'SIGINT'])('stops on %s and ends well', async (signal) => {
    const code = run(() => service());
    await started();
    signals.emit(signal, signal);
    expect(await code).toBe(exitCodes.stopped);
    expect(calls).toEqual(['start', 'stop']);
  });

  test('a signal while it starts stops it as well', async () => {
    const code = run(() => service({ start: () => (calls.push('start'), new Promise<void>(() => undefined)) }));
    await started();
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(exitCodes.stopped);
    expect(calls).toEqual(['start', 'stop']);
  });

  test('a start that fails ends with 1, and what had begun is stopped', async () => {
    expect(await run(() => service({ start: () => Promise.reject(new Error('no')) }))).toBe(exitCodes.failed);
    expect(calls).toEqual(['stop']);
  });

  test('a build that fails ends with 1', async () => {
    const build = () => {
      throw new SuzumioError('schema-newer', 'too new');
    };
    expect(await run(build)).toBe(exitCodes.failed);
  });

  test('a service may say that it cannot go on', async () => {
    let tools: ServiceTools | undefined;
    const code = run((given) => ((tools = given), service()));
    await started();
    tools?.fail(new SuzumioError('schema-newer', 'a later version has been here'));
    expect(await code).toBe(exitCodes.failed);
    expect(calls).toEqual(['start', 'stop']);
  });

  test('an error that nobody caught ends it without a stop', async () => {
    const code = run(() => service());
    await started();
    signals.emit('uncaughtException', new Error('oh'));
    expect(await code).toBe(exitCodes.failed);
    expect(calls).toEqual(['start']);
  });

  test('a stop that hangs is not waited for longer than the bound', async () => {
    const code = run(() => service({ stop: () => new Promise<void>(() => undefined) }), 20);
    await started();
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(exitCodes.failed);
  });

  test('a second signal waits for nothing', async () => {
    const code = run(() => service({ stop: () => (calls.push('stop'), new Promise<void>(() => undefined)) }), 60_000);
    await started();
    signals.emit('SIGTERM', 'SIGTERM');
    await eventually('it is being stopped', () => calls.includes('stop'));
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(exitCodes.failed);
  });

  test('a stop that fails shows in the exit code', async () => {
    const code = run(() => service({ stop: () => Promise.reject(new Error('no')) }));
    await started();
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(exitCodes.failed);
  });

  test('is ready once it has started, and says what its service says', async () => {
    const port = await freePort();
    let start: () => void = () => undefined;
    const code = run(
      () =>
        service({
          start: () => new Promise<void>((resolve) => (start = resolve)),
          readiness: () => Promise.resolve({ ready: true, degraded: ['redis'] }),
        }),
      5_000,
      { SUZUMIO_HEALTH_PORT: String(port) },
    );
    const readiness = () => fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    await eventually('it answers', async () => (await readiness())?.status === 503);
    start();
    await eventually('it is ready', async () => (await readiness())?.status === 200);
    expect(await (await readiness())?.json()).toEqual({ status: 'degraded', degraded: ['redis'] });
    signals.emit('SIGTERM', 'SIGTERM');
    expect(await code).toBe(exitCodes.stopped);
  });

  test('settings that are wrong end it before anything is made', async () => {
    expect(await run(() => service(), 5_000, { SUZUMIO_HEALTH_PORT: 'many' })).toBe(exitCodes.settings);
    expect(calls).toEqual([]);
  });
});

describe('a secret that a process is given', () => {
  const secret = 'a'.repeat(32);
  const files: Record<string, string> = { '/run/secrets/admin': `${secret}\n`, '/run/secrets/short': 'hunter2' };
  const readFile = (file: string) => {
    const content = files[file];
    if (content === undefined) throw new Error('no such file');
    return content;
  };
  const given = (environment: { TOKEN?: string; TOKEN_FILE?: string }) => secretSetting('TOKEN', environment, readFile);

  test('stands in the variable or in a file, or nowhere', () => {
    expect(given({ TOKEN: secret })).toBe(secret);
    expect(given({ TOKEN_FILE: '/run/secrets/admin' })).toBe(secret);
    expect(given({})).toBeUndefined();
  });

  test.each([
    [{ TOKEN: 'hunter2' }, 'TOKEN needs 32 to 500 visible ASCII characters'],
    [{ TOKEN: `${secret} b` }, 'TOKEN needs 32 to 500 visible ASCII characters'],
    [{ TOKEN_FILE: '/run/secrets/short' }, 'TOKEN_FILE needs 32 to 500'],
    [{ TOKEN_FILE: '/run/secrets/none' }, 'TOKEN_FILE cannot be read: no such file.'],
    [{ TOKEN: secret, TOKEN_FILE: '/run/secrets/admin' }, 'both set'],
  ])('is refused: %j', (environment, message) => {
    const refused = () => given(environment);
    expect(refused).toThrow(expect.objectContaining({ code: 'settings-invalid' }));
    expect(refused).toThrow(message);
    expect(refused).not.toThrow('hunter2');
  });
});

describe('the environment', () => {
  const good = { SUZUMIO_ROOT: '/data', SUZUMIO_REDIS_URL: 'redis://127.0.0.1:6379', SUZUMIO_CELL: 'east' };

  test('defaults stand for what is missing or empty', () => {
    expect(parseEnvironment(controlPlaneEnvironment, { ...good, SUZUMIO_HEALTH_PORT: '' })).toEqual({
      ...good,
      SUZUMIO_LOG_LEVEL: 'info',
      SUZUMIO_HEALTH_HOST: '127.0.0.1',
      SUZUMIO_ALLOWED_HOSTS: [],
    });
  });

  test('every variable that is wrong is named', () => {
    const parse = () =>
      parseEnvironment(controlPlaneEnvironment, { SUZUMIO_REDIS_URL: 'http://x', SUZUMIO_CELL: 'A b' });
    expect(parse).toThrow(/SUZUMIO_ROOT: .*SUZUMIO_REDIS_URL: .*SUZUMIO_CELL: /);
    expect(parse).toThrow(SuzumioError);
  });
});
