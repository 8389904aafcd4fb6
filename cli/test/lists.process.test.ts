import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { postMessage } from '@suzumio/store/mail/post-message';
import { testCell } from '../../test/support/cell.js';

const command = fileURLToPath(new URL('../bin/suzumio.js', import.meta.url));

test('the built command searches a data directory that nothing serves', async () => {
  const testing = await testCell();
  try {
    const project = await testing.create();
    for (const body of ['There is a parser error.', 'There is none.']) {
      await testing.write(project, (tx) =>
        postMessage(tx, { sender: 'ada', recipient: 'user', priority: 'P1', body, actor: 'test' }),
      );
    }
    const suzumio = async (color: string, ...args: string[]) => {
      const env = { SUZUMIO_ROOT: testing.root, HOME: testing.root, FORCE_COLOR: color };
      const found = ['messages', project, '--from', 'ada', '--since', '1h', '--search', 'parser', ...args];
      return (await promisify(execFile)(process.execPath, [command, ...found], { env })).stdout;
    };
    expect(await suzumio('0')).toMatch(/^NO .*\n1 .* There is a \[parser\] error\.\n$/);
    expect(await suzumio('1')).toContain('There is a \u001b[1m\u001b[33mparser\u001b[39m\u001b[22m error.\n');
    expect(JSON.parse(await suzumio('0', '--json'))).toMatchObject([{ seq: 1, body: 'There is a parser error.' }]);
  } finally {
    await testing.close();
  }
});
