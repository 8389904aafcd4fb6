import { isSuzumioError, messageOf } from '@suzumio/contract/errors/suzumio-error';
import type { ServerFinding } from '@suzumio/contract/operations/service';
import { findApi } from '../reach/reach.js';
import type { Session } from '../session.js';
import { type Finding, skipped } from './check.js';

/** What the server that runs on this machine finds of itself. Its directory and disk are looked at from here. */
export async function checkSystem(session: Session): Promise<Finding[]> {
  try {
    const api = await findApi(session);
    if (!api) return [skipped('workers', 'not asked for: no server runs')];
    const { findings } = await api.getSystem();
    return findings
      .filter(({ what, state }) => state === 'broken' || (what !== 'data' && what !== 'disk'))
      .map((finding) => toldHere(finding, session.suzumio));
  } catch (error) {
    // A server of an earlier version.
    if (isSuzumioError(error, 'not-found')) return [];
    return [skipped('services', messageOf(error))];
  }
}

/** @param suzumio how the command is called */
export function toldHere({ what, state, detail, remedy, next }: ServerFinding, suzumio: string): Finding {
  const command = next === null ? '' : `${suzumio} ${next}`;
  if (remedy === null) return { what, state, detail: [detail, command].filter(Boolean).join('; ') };
  return { what, state, detail, remedy: command ? `${remedy} (${command})` : remedy };
}
