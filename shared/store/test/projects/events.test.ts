import { afterEach, expect, test } from '@jest/globals';
import { projectEvent } from '@suzumio/contract/model/event';
import { ProjectStores } from '@suzumio/store/cell/project-stores';
import { listEvents } from '@suzumio/store/projects/events';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { testCell, type TestCell } from '../../../../test/support/cell.js';

let testing: TestCell;
afterEach(() => testing.close());

test('what another version wrote is read as it was written', async () => {
  testing = await testCell();
  const project = await testing.create(undefined, { start: false });
  const event = (type: string, data: object) => ({
    ...{ type, actor: 'system', agent_id: null, turn_id: null, created_at_ms: 0 },
    data_json: JSON.stringify(data),
  });
  const earlier = new ProjectStores(testing.cell.directory, testing.cell.context);
  await earlier.use(project, (store) =>
    store.write((tx) => {
      tx.insert('events', event('turn.failed', { number: 1 }));
      tx.insert('events', event('weather.changed', { wind: ['north', 3] }));
    }),
  );
  await earlier.close();
  const { items: events } = await testing.store(project, ({ reader }) => listEvents(reader, { limit: 10 }));
  expect(events.slice(1)).toMatchObject([
    { type: 'turn.failed', data: { number: 1 } },
    { type: 'weather.changed', data: { wind: ['north', 3] } },
  ]);
  expect(events.map((one) => projectEvent.parse(one))).toEqual(events);
});

/** Never run: the compiler says what may be emitted. */
export function refused(tx: Tx): void {
  const actor = 'system';
  tx.emit({ type: 'agent.started', actor });
  tx.emit({ type: 'project.stopped', actor, data: { now: true } });
  // @ts-expect-error there is no such type
  tx.emit({ type: 'weather.changed', actor });
  // @ts-expect-error without its data
  tx.emit({ type: 'project.stopped', actor });
  // @ts-expect-error with other data
  tx.emit({ type: 'project.stopped', actor, data: { now: 'soon' } });
  // @ts-expect-error with a field too many
  tx.emit({ type: 'project.stopped', actor, data: { now: true, later: true } });
}
