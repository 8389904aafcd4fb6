import { describe, expect, test } from '@jest/globals';
import { createLogger } from '@suzumio/runtime/observability/logger';
import { createRedactor } from '@suzumio/runtime/observability/redactor';

const leaseToken = `lease.main.newsroom.1.turn_${'0'.repeat(26)}.2.${'a1B2'.repeat(11)}`;
const toolToken = leaseToken.replace('lease', 'tool');

function logged(write: (logger: ReturnType<typeof createLogger>) => void, secrets: string[] = []) {
  const lines: string[] = [];
  const redactor = createRedactor(secrets);
  write(createLogger({ service: 'api', redactor, destination: { write: (line) => lines.push(line) } }));
  return { text: lines.join(''), first: JSON.parse(lines[0] ?? '{}') as Record<string, unknown> };
}

test('a line is JSON with service, level and ISO time', () => {
  const { first } = logged((logger) => logger.info({ turn: 't1' }, 'it began'));
  expect(first).toMatchObject({ service: 'api', level: 'info', turn: 't1', msg: 'it began' });
  expect(first['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test('an error is logged with its code, its stack and its cause', () => {
  const error = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: 'store-busy' });
  const { text } = logged((logger) => logger.error({ err: error }, 'it failed'));
  for (const part of ['outer', 'inner', 'store-busy', 'stack']) expect(text).toContain(part);
});

describe('secrets', () => {
  test.each(['token', 'leaseToken', 'toolToken', 'apiKey', 'credential', 'password', 'authorization', 'secret'])(
    'a field %s is blanked at the top and inside',
    (field) => {
      const { text } = logged((logger) =>
        logger.info({ [field]: 'plain-1', a: { [field]: 'plain-2', b: { [field]: 'plain-3' } } }, 'x'),
      );
      expect(text).not.toContain('plain-');
    },
  );

  test.each([
    ['in the message', (logger: ReturnType<typeof createLogger>) => logger.info(`claimed with ${leaseToken}`)],
    [
      'in a deep field',
      (logger: ReturnType<typeof createLogger>) => logger.info({ a: { b: { c: { d: [toolToken] } } } }),
    ],
    ['in an error', (logger: ReturnType<typeof createLogger>) => logger.error({ err: new Error(`bad: ${toolToken}`) })],
    ['in a header', (logger: ReturnType<typeof createLogger>) => logger.info({ raw: `Authorization: Bearer abc.def` })],
    ['in a child', (logger: ReturnType<typeof createLogger>) => logger.child({ at: leaseToken }).info('x')],
  ])('a token is taken out %s', (_where, write) => {
    const { text } = logged(write);
    expect(text).toContain('[redacted]');
    expect(text).not.toMatch(/a1B2|abc\.def/);
  });

  test('a registered secret is taken out wherever it stands, also escaped', () => {
    const { text } = logged(
      (logger) => logger.info({ url: 'https://x/?k=pa"ss\\word1' }, 'pa"ss\\word1'),
      ['pa"ss\\word1'],
    );
    expect(text).not.toContain('word1');
    expect(text.match(/\[redacted\]/g)).toHaveLength(2);
  });

  test('a secret too short to be told from text is refused', () => {
    expect(() => createRedactor(['abc'])).toThrow(RangeError);
  });

  test('ordinary names that begin alike stay', () => {
    const { text } = logged((logger) => logger.info('tool.called for tool messages.send; lease.expired'));
    expect(text).toContain('tool.called for tool messages.send; lease.expired');
  });
});
