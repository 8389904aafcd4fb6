import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const script = `
import { createLogger } from '@suzumio/runtime/observability/logger';

// Starts: shared/runtime.
const logger = createLogger({ service: 'test' });
for (let line = 0; line < 5000; line += 1) logger.info({ line }, 'x'.repeat(500));
await new Promise((resolve) => setTimeout(resolve, 50));
process.stderr.write('still here');
process.exit(0);
`;

test('a service whose log cannot be written goes on', async () => {
  const { stderr } = await promisify(execFile)(
    '/bin/sh',
    ['-c', '"$0" --input-type=module -e "$1" > /dev/full', process.execPath, script],
    {
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  expect(stderr).toContain('still here');
});
