import { Fragment } from 'react';
import { visible } from '../../../parts/visible.js';
import { some } from '../../../parts/numbers.js';
import { Moment } from '../../../parts/time.js';
import { hidden, type YamlLine, yamlLines } from '../../../parts/yaml-lines.js';
import type { Version } from './use-versions.js';

const mostLines = 4_000;
const mostChars = 4_000;

/** What is read first, in this order; what else there is follows. */
const order = ['task', 'agents', 'backend', 'tools', 'turn', 'budget', 'scheduler', 'protection', 'channels'];
/** What the head of the page says, and what is about the file itself. */
const elsewhere = ['name', 'rendered'];

/** A version to the letter, comments included. */
export function Given({ version: { version, at, file } }: { version: Version }) {
  return (
    <section className="setup-pane" aria-label="As it was given">
      <h2>
        As it was given{' '}
        <span className="pane-note">
          version {version}, <Moment at={at} />
        </span>
      </h2>
      {file === null ? (
        <p className="quiet">The file is not there any more.</p>
      ) : (
        <Lines label="The project file" lines={file.trimEnd().split(/\r?\n/).map(lineOf)} />
      )}
    </section>
  );
}

/** A version with its defaults filled in, part by part. */
export function Resolved({ version: { config } }: { version: Version }) {
  return (
    <section className="setup-pane" aria-label="As it was resolved">
      <h2>
        As it was resolved <span className="pane-note">durations in milliseconds, sizes in bytes</span>
      </h2>
      <Parts config={config} />
    </section>
  );
}

/** A line of a file that somebody wrote: its beginning, and what is said there. */
function lineOf(line: string): YamlLine {
  const lead = /^\s*(?:- )?(?:[\w.@/-]+:(?= |$))?/.exec(line)?.[0] ?? '';
  const text = line.slice(lead.length);
  return { lead, text: text.length > mostChars ? `${text.slice(0, mostChars)}…` : text };
}

function Parts({ config }: Pick<Version, 'config'>) {
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
    <pre translate="no" className="setup-yaml" tabIndex={0} role="group" aria-label={label}>
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
