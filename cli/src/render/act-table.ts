import type { ActView } from '@suzumio/contract/model/acts';
import { oneLine } from '@suzumio/core/prompt/body';
import type { Session } from '../session.js';
import { dayAndTime } from './format.js';
import { table } from './table.js';

/** What people did, a line each. */
export function actTable(acts: readonly ActView[], { context }: Session): string[] {
  return table(
    ['TIME', 'WHO', 'DID', 'PROJECT', 'TO'],
    acts.map(({ at, actor, type, project, subject }) => [
      dayAndTime(at, context),
      oneLine(actor),
      oneLine(type),
      project ?? '-',
      oneLine(subject ?? '-'),
    ]),
    context.out,
  );
}
