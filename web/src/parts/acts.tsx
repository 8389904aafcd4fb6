import type { Act } from '@suzumio/sdk/client';
import { Link } from 'wouter';
import { visible } from './markdown.js';
import { Moment } from './time.js';

/** What each act is, as a sentence goes on after who did it. */
const verbs: Readonly<Record<string, string>> = {
  'project.initialized': 'made the project',
  'project.started': 'started the project',
  'project.changes-requested': 'asked for changes of the report',
  'project.completed': 'approved the report',
  'project.stopped': 'stopped the project',
  'project.labelled': 'changed its labels',
  'project.paused': 'paused the project',
  'project.resumed': 'resumed the project',
  'project.deleted': 'deleted the project',
  'message.redelivered': 'delivered mail again to',
  'message.redacted': 'redacted a message',
  'artifact.redacted': 'redacted an artifact',
  'turn.queued': 'retried the turn of',
  'turn.cancelled': 'cancelled a turn of',
  'workspace.restored': 'restored the files of',
  'agent.stopped': 'stopped',
  'agent.started': 'started',
  'agent.reset': 'reset',
  'agent.paused': 'paused',
  'agent.resumed': 'resumed',
  'budget.changed': 'changed a budget of',
  'token.created': 'made the token',
  'token.revoked': 'revoked the token',
  'cell.paused': 'paused every project',
  'cell.resumed': 'resumed every project',
};

/** What somebody did, in a sentence. */
function verbOf({ type, subject }: Pick<Act, 'type' | 'subject'>): string {
  const verb = verbs[type] ?? type;
  return subject === null ? verb.replace(/ of$/, '') : verb;
}

const mostValueChars = 120;

/** What people did, a row each, the newest first. */
export function Acts({ acts, actorHref }: { acts: readonly Act[]; actorHref: (actor: string) => string }) {
  return (
    <div className="table-scroll">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">Did what</th>
            <th scope="col">Project</th>
            <th scope="col" className="wide">
              With
            </th>
          </tr>
        </thead>
        <tbody>
          {acts.map((act, at) => (
            // Acts of one moment have nothing else that tells them apart.
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={`${act.at} ${act.type} ${at}`}>
              <td>
                <Moment at={act.at} />
              </td>
              <th scope="row">
                <Link href={actorHref(act.actor)} className="evidence">
                  <bdi>{visible(act.actor)}</bdi>
                </Link>
              </th>
              <td>
                {verbOf(act)}{' '}
                {act.subject === null ? null : (
                  <b>
                    <bdi>{visible(act.subject)}</bdi>
                  </b>
                )}
              </td>
              <td>
                {act.project === null ? (
                  ''
                ) : act.type === 'project.deleted' ? (
                  <bdi>{act.project}</bdi>
                ) : (
                  <Link href={`/p/${act.project}/log?what=acts`} className="evidence">
                    <bdi>{act.project}</bdi>
                  </Link>
                )}
              </td>
              <td className="wide clip quiet">
                <bdi>{withWhat(act.data)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function withWhat(data: Act['data']): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .map((text) => visible(text.slice(0, mostValueChars)))
    .join(', ');
}
