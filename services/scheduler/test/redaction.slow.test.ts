import { expect, test } from '@jest/globals';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { wipesDue } from '@suzumio/store/redaction/wipe';
import { Sql } from '@suzumio/store/sqlite/sql';
import { eventually } from '../../../test/support/poll.js';
import { benches } from './bench.js';

const bench = benches(() => createInProcessTransport({ logger: silentLogger() }));

test('what a redaction had to leave in free space is wiped later', async () => {
  const { testing, mail, scheduler } = await bench();
  const project = await testing.create();
  await mail(project, 'ada');
  const { directory } = testing.cell;
  const file = directory.projectFile(project);
  const reader = Sql.open(file, { readonly: true });
  reader.handle.exec('BEGIN');
  reader.get('SELECT count(*) FROM messages');
  const due = () => testing.store(project, (store) => wipesDue(store.reader));
  await testing.store(project, (store) => {
    const place = { store, directory: directory.projectDir(project), file };
    return redact(place, redactableMessage(store.reader, '1'), { actor: 'ops', because: null });
  });
  expect(await due()).toBe(1);
  reader.close();
  await scheduler({ sweepIntervalMs: 50 });
  await eventually('the wipe is done', async () => (await due()) === 0);
});
