import type { ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { some } from '../../parts/numbers.js';
import { hidden, yamlLines } from '../../parts/yaml-lines.js';
import { useTitle } from '../../title.js';

const mostLines = 4_000;

/** What is read first, in this order; what else there is follows. */
const order = ['task', 'agents', 'backend', 'tools', 'turn', 'budget', 'scheduler', 'protection', 'channels'];
/** What the head of the page says, and what is about the file itself. */
const elsewhere = ['name', 'rendered'];

/** The project's file with everything resolved, part by part; values of variables and headers are shown to nobody. */
export function Setup({ detail: { project } }: { detail: ProjectDetail }) {
  useTitle(`Setup · ${project.id}`);
  const config = useQuery({
    queryKey: [...keys.project(project.id), 'config'],
    queryFn: () => api.getResolvedConfig({ project: project.id }),
  });
  if (config.error && config.data === undefined) {
    return <Failure error={config.error} again={() => void config.refetch()} />;
  }
  if (config.data === undefined) return null;
  const { agents } = config.data;
  const parts = Object.fromEntries(Object.entries(config.data).filter(([name]) => !elsewhere.includes(name)));
  const names = [...new Set([...order, ...Object.keys(parts)])].filter(
    (name) => name === 'agents' || parts[name] !== undefined,
  );
  return (
    <div className="page setup">
      <p className="quiet">
        The project file as it was resolved: defaults filled in, durations in milliseconds, sizes in bytes. Values of
        variables and headers are hidden, since keys may stand in them. A project keeps the file that it was made from.
      </p>
      {names.map((name) =>
        name === 'agents' ? (
          <section key={name} aria-label="agents">
            <h2>
              agents <span className="pane-note">{some(Object.keys(agents).length, 'agent')}</span>
            </h2>
            <ul className="setup-agents">
              {Object.entries(agents)
                .slice(0, 200)
                .map(([id, agent]) => (
                  <li key={id}>
                    <details className="note">
                      <summary>
                        <b>
                          <bdi>{visible(id)}</bdi>
                        </b>{' '}
                        <span className="quiet">
                          <bdi>{visible(agent.role)}</bdi>, {some(agent.tools.length, 'tool')}
                          {agent.env === undefined ? '' : `, ${some(Object.keys(agent.env).length, 'variable')}`}
                        </span>
                      </summary>
                      <Yaml value={agent} />
                    </details>
                  </li>
                ))}
            </ul>
          </section>
        ) : (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <Yaml value={parts[name]} />
          </section>
        ),
      )}
    </div>
  );
}

/** A value as it would stand in a file. */
function Yaml({ value }: { value: unknown }) {
  const lines = yamlLines(value);
  return (
    <pre className="setup-yaml" tabIndex={0}>
      {lines.slice(0, mostLines).map(({ lead, text }, at) => (
        // Lines are never moved.
        // oxlint-disable-next-line react/no-array-index-key
        <Fragment key={at}>
          <span className="setup-key">{visible(lead)}</span>
          {text === hidden ? <span className="setup-hidden">hidden</span> : visible(text)}
          {'\n'}
        </Fragment>
      ))}
      {lines.length > mostLines ? `… and ${lines.length - mostLines} lines more` : null}
    </pre>
  );
}
