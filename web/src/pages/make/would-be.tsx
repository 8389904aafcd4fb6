import type { CheckedProjectFile } from '@suzumio/sdk/client';
import { count, dollars, some } from '../../parts/numbers.js';
import { visible } from '../../parts/visible.js';

export type Filed = NonNullable<CheckedProjectFile['project']>;

const mostAgents = 12;

/** The project that a file makes. */
export function WouldBe({ project }: { project: Filed | undefined }) {
  if (project === undefined) return null;
  const { agents, agentCount, budget, image, network, providers, directories, repositories } = project;
  const facts: [string, string][] = [
    ['Budget', budget === null ? 'none: nothing stops it but you' : limitsOf(budget)],
    ...(image === null ? [] : ([['Runs in', `${image}, network ${network ?? 'none'}`]] as [string, string][])),
    ...providers.map(({ address, key }): [string, string] => ['Asks', `${address}, with the key ${key}`]),
    ...directories.map((path): [string, string] => ['Copies or mounts', path]),
    ...repositories.map((path): [string, string] => ['Clones', path]),
  ];
  return (
    <section aria-label="What it would be">
      <h2>
        <bdi>{visible(project.name)}</bdi> <span className="pane-note">{some(agentCount, 'agent')}</span>
      </h2>
      <p className="make-task">
        <bdi>{visible(project.task)}</bdi>
      </p>
      <ul className="make-agents">
        {agents.slice(0, mostAgents).map(({ id, displayName, role, model, backend }) => (
          <li key={id}>
            <b>
              <bdi>{visible(displayName ?? id)}</bdi>
            </b>{' '}
            <span className="quiet">
              <bdi>
                {visible(role)}
                {model === null ? '' : `, ${visible(model)}`}
                {backend === 'docker' ? '' : `, ${backend}`}
              </bdi>
            </span>
          </li>
        ))}
        {agentCount > mostAgents ? <li className="quiet">and {count(agentCount - mostAgents)} more</li> : null}
      </ul>
      <dl className="make-facts">
        {facts.slice(0, 20).map(([name, value]) => (
          <div key={`${name} ${value}`}>
            <dt>{name}</dt>
            <dd>
              <bdi>{visible(value)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function limitsOf({ usd, tokens, turns }: NonNullable<Filed['budget']>): string {
  return [
    usd === undefined ? [] : [dollars(usd)],
    tokens === undefined ? [] : [some(tokens, 'token')],
    turns === undefined ? [] : [some(turns, 'turn')],
  ]
    .flat()
    .join(', ');
}
