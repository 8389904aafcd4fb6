import type { Client, ProjectDetail } from '@suzumio/sdk/client';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useMayMake } from '../../acts/use-may-make.js';
import { api, keys } from '../../api.js';
import { Failure } from '../../parts/failure.js';
import { visible } from '../../parts/visible.js';
import { some } from '../../parts/numbers.js';
import { Moment } from '../../parts/time.js';
import { useNarrow } from '../../parts/use-narrow.js';
import { hidden, type YamlLine, yamlLines } from '../../parts/yaml-lines.js';
import { useTitle } from '../../title.js';

const mostLines = 4_000;
const mostChars = 4_000;

/** What is read first, in this order; what else there is follows. */
const order = ['task', 'agents', 'backend', 'tools', 'turn', 'budget', 'scheduler', 'protection', 'channels'];
/** What the head of the page says, and what is about the file itself. */
const elsewhere = ['name', 'rendered'];

const views = [
  ['file', 'As it was given'],
  ['resolved', 'As it was resolved'],
] as const;

/** The project's file as it was given, and with everything resolved; values of variables and headers are shown to nobody. */
export function Setup({ detail: { project } }: { detail: ProjectDetail }) {
  useTitle(`Setup · ${project.id}`);
  const mayMake = useMayMake();
  const isNarrow = useNarrow();
  const [search, setSearch] = useSearchParams();
  const shown = search.get('show') === 'resolved' ? 'resolved' : 'file';
  const both = [
    <Source key="file" project={project.id} madeAt={project.createdAt} />,
    <Resolved key="resolved" project={project.id} />,
  ];
  return (
    <div className="page setup">
      <p className="quiet">
        The version of the file that is in force. Values of variables and headers are hidden, since keys may stand in
        them.
      </p>
      {mayMake ? (
        <p>
          <Link href={`/new?of=${encodeURIComponent(project.id)}`} className="button">
            New project from this file
          </Link>
        </p>
      ) : null}
      {isNarrow ? (
        <div className="switch" role="group" aria-label="Which of them">
          {views.map(([name, words]) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === shown}
              onClick={() => setSearch(name === 'file' ? {} : { show: name }, { replace: true })}
            >
              {words}
            </button>
          ))}
        </div>
      ) : null}
      <div className="setup-panes">{isNarrow ? both.filter(({ key }) => key === shown) : both}</div>
    </div>
  );
}

/** The file to the letter, comments included. */
function Source({ project, madeAt }: { project: string; madeAt: string }) {
  const source = useQuery({
    queryKey: [...keys.project(project), 'source'],
    queryFn: () => api.getProjectSource({ project }),
  });
  return (
    <section className="setup-pane" aria-label="As it was given">
      <h2>
        As it was given{' '}
        <span className="pane-note">
          {source.data === undefined ? '' : `version ${source.data.version}, `}
          <Moment at={madeAt} />
        </span>
      </h2>
      {source.error && source.data === undefined ? (
        <Failure error={source.error} again={() => void source.refetch()} />
      ) : null}
      {source.data?.file === null ? <p className="quiet">The file is not there any more.</p> : null}
      {source.data?.file == null ? null : (
        <Lines label="The project file" lines={source.data.file.trimEnd().split(/\r?\n/).map(lineOf)} />
      )}
    </section>
  );
}

/** A line of a file that somebody wrote: its beginning, and what is said there. */
function lineOf(line: string): YamlLine {
  const lead = /^\s*(?:- )?(?:[\w.@/-]+:(?= |$))?/.exec(line)?.[0] ?? '';
  const text = line.slice(lead.length);
  return { lead, text: text.length > mostChars ? `${text.slice(0, mostChars)}…` : text };
}

/** The file with its defaults filled in, part by part. */
function Resolved({ project }: { project: string }) {
  const config = useQuery({
    queryKey: [...keys.project(project), 'config'],
    queryFn: () => api.getResolvedConfig({ project }),
  });
  return (
    <section className="setup-pane" aria-label="As it was resolved">
      <h2>
        As it was resolved <span className="pane-note">durations in milliseconds, sizes in bytes</span>
      </h2>
      {config.error && config.data === undefined ? (
        <Failure error={config.error} again={() => void config.refetch()} />
      ) : null}
      {config.data === undefined ? null : <Parts config={config.data} />}
    </section>
  );
}

function Parts({ config }: { config: Awaited<ReturnType<Client['getResolvedConfig']>> }) {
  const { agents } = config;
  const parts = Object.fromEntries(Object.entries(config).filter(([name]) => !elsewhere.includes(name)));
  const names = [...new Set([...order, ...Object.keys(parts)])].filter(
    (name) => name === 'agents' || parts[name] !== undefined,
  );
  return (
    <>
      {names.map((name) =>
        name === 'agents' ? (
          <section key={name} aria-label="agents">
            <h3>
              agents <span className="pane-note">{some(Object.keys(agents).length, 'agent')}</span>
            </h3>
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
                      <Yaml label={`agent ${id}`} value={agent} />
                    </details>
                  </li>
                ))}
            </ul>
          </section>
        ) : (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <Yaml label={name} value={parts[name]} />
          </section>
        ),
      )}
    </>
  );
}

/** A value as it would stand in a file. */
function Yaml({ label, value }: { label: string; value: unknown }) {
  return <Lines label={label} lines={yamlLines(value)} />;
}

function Lines({ label, lines }: { label: string; lines: readonly YamlLine[] }) {
  return (
    <pre className="setup-yaml" tabIndex={0} role="group" aria-label={label}>
      {lines.slice(0, mostLines).map(({ lead, text }, at) => (
        // Lines are never moved.
        // oxlint-disable-next-line react/no-array-index-key
        <Fragment key={at}>
          <span className="setup-key">{visible(lead)}</span>
          {text.split(hidden).map((part, between) => (
            // oxlint-disable-next-line react/no-array-index-key
            <Fragment key={between}>
              {between === 0 ? null : <span className="setup-hidden">hidden</span>}
              {visible(part)}
            </Fragment>
          ))}
          {'\n'}
        </Fragment>
      ))}
      {lines.length > mostLines ? `… and ${lines.length - mostLines} lines more` : null}
    </pre>
  );
}
