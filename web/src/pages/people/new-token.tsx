import type { CreatedToken } from '@suzumio/sdk/client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import { api, publicPath, queries, wordsOf } from '../../api.js';
import { useDraft } from '../../acts/draft.js';
import { openDialog } from '../../acts/run/dialogs.js';
import { Copyable } from '../../parts/copy.js';
import { Moment } from '../../parts/time.js';
import { useProjects } from '../../use-projects.js';
import { Field } from './field.js';
import { LinkDialog } from './link-dialog.js';
import { opensPage, reachOf, scopes, type Scope } from './scopes.js';
import { accessKeys } from './use-people.js';
import { useSecret } from './use-secret.js';

const empty = { name: '', scope: 'read', project: '', agents: '', expires: '90d' };

const lives: readonly [value: string, words: string][] = [
  ['1d', 'in a day'],
  ['7d', 'in a week'],
  ['30d', 'in 30 days'],
  ['90d', 'in 90 days'],
  ['366d', 'in a year'],
  ['', 'never, until it is revoked'],
];
const mostProjects = 500;

/** Makes a token, and shows its secret: once, in this place, and nowhere else. */
export function NewToken() {
  const [made, setMade] = useSecret<CreatedToken>();
  return (
    <div className="page people">
      {made === undefined ? <Form onMade={setMade} /> : <Made made={made} another={() => setMade(undefined)} />}
    </div>
  );
}

function Form({ onMade }: { onMade: (made: CreatedToken) => void }) {
  const [draft, setDraft, forget] = useDraft('new token', empty);
  const projects = useProjects();
  const will = useId();
  const scope = draft.scope as Scope;
  const agents = draft.agents.split(/[,\s]+/).filter((agent) => agent !== '');
  const project = scope === 'worker' ? '' : draft.project;
  // Neither the answer nor the secret in it stays in the page's memory of requests.
  const create = useMutation({
    gcTime: 0,
    mutationFn: () =>
      api.createToken({
        body: {
          name: draft.name.trim(),
          scope,
          ...(project === '' ? {} : { project }),
          ...(scope === 'handler' ? { agents } : {}),
          ...(draft.expires === '' ? {} : { expires: draft.expires }),
        },
      }),
    onSuccess: (made) => {
      forget();
      onMade(made);
    },
    onSettled: () => {
      for (const queryKey of accessKeys) queries.invalidateQueries({ queryKey }).catch(() => undefined);
    },
  });
  const write = (part: Partial<typeof empty>) => setDraft((last) => ({ ...last, ...part }));
  const known = (projects.data ?? []).slice(0, mostProjects);
  return (
    <form
      className="people-form"
      aria-label="New token"
      onSubmit={(event) => {
        event.preventDefault();
        if (!create.isPending) create.mutate();
      }}
    >
      <h2 className="people-title">New token</h2>
      <Field name="Name" hint={<>Whose it is: a person or a program. It is recorded with everything that is done.</>}>
        {(tied) => (
          <input
            {...tied}
            className="input"
            value={draft.name}
            required
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            placeholder="yuki"
            onChange={({ target }) => write({ name: target.value })}
          />
        )}
      </Field>
      <fieldset className="people-scopes">
        <legend>What it may do</legend>
        {scopes.map(({ scope: one, may }) => (
          <label key={one} className="people-scope">
            <input
              type="radio"
              name="scope"
              value={one}
              checked={scope === one}
              onChange={() => write({ scope: one })}
            />
            <b>{one}</b>
            <span>{may}</span>
          </label>
        ))}
      </fieldset>
      {scope === 'worker' ? null : (
        <label className="dialog-field">
          <span>Project</span>
          <select
            className="input"
            value={draft.project}
            required={scope === 'handler'}
            onChange={({ target }) => write({ project: target.value })}
          >
            <option value="">{scope === 'handler' ? 'choose a project' : 'every project, also those to come'}</option>
            {known.map(({ id }) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
            {project !== '' && !known.some(({ id }) => id === project) ? (
              <option value={project}>{project}</option>
            ) : null}
          </select>
        </label>
      )}
      {scope === 'handler' ? (
        <Field name="Agents" hint={<>Ids of external agents of that project, with commas between them.</>}>
          {(tied) => (
            <input
              {...tied}
              className="input"
              value={draft.agents}
              required
              autoComplete="off"
              placeholder="lead, writer"
              onChange={({ target }) => write({ agents: target.value })}
            />
          )}
        </Field>
      ) : null}
      <label className="dialog-field">
        <span>It ends</span>
        <select className="input" value={draft.expires} onChange={({ target }) => write({ expires: target.value })}>
          {lives.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {create.error ? (
        <div role="alert" className="outcome-refused">
          <p>
            {wordsOf(create.error)}
            {isLost(create.error)
              ? ' Whether it was made is not known. Where the list shows it, revoke it: its secret is lost.'
              : ''}
          </p>
        </div>
      ) : null}
      <div className="people-send">
        <button type="submit" className="button button-filled" aria-describedby={will}>
          {create.isPending ? 'Making…' : 'Make the token'}
        </button>
        <Link href="/tokens" className="button">
          All tokens
        </Link>
        <p id={will} className="quiet">
          Its secret is shown once, here, right after.
        </p>
      </div>
    </form>
  );
}

/** Whether no answer came, so that it may have been made. */
function isLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'server-unreachable';
}

function Made({ made: { token, secret }, another }: { made: CreatedToken; another: () => void }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const { name, scope, expiresAt } = token;
  const url = `${location.origin}${publicPath}`;
  const command =
    scope === 'worker'
      ? `SUZUMIO_WORKER_TOKEN=${secret}`
      : scope === 'handler'
        ? `SUZUMIO_HANDLER_TOKEN=${secret}`
        : `SUZUMIO_URL=${url} SUZUMIO_TOKEN=${secret} suzumio status`;
  return (
    <section className="once" aria-label={`The secret of ${name}`}>
      <h2 className="people-title" tabIndex={-1} ref={title}>
        <bdi translate="no">{name}</bdi> is made
      </h2>
      <p>
        <b>{scope}</b>, {reachOf(token)},{' '}
        {expiresAt === null ? (
          'until it is revoked'
        ) : (
          <>
            until <Moment at={expiresAt} />
          </>
        )}
        .
      </p>
      <h3>Its secret</h3>
      <Copyable text={secret} name="the secret" />
      <p className="once-note">
        It is shown this once. Whoever has it is taken for <b>{name}</b>: put it where secrets are kept. When you leave,
        it is gone; a lost one is replaced by another token.
      </p>
      <h3>{opensPage(scope) ? 'A command that uses it' : 'In the environment of the program that uses it'}</h3>
      <Copyable text={command} name="the command" />
      <p className="quiet">
        {opensPage(scope)
          ? 'Shells keep what is typed in their history: in a script, read it from a file.'
          : 'Or in a file that only the program can read.'}
      </p>
      <div className="people-send">
        {opensPage(scope) ? (
          <button
            type="button"
            className="button"
            onClick={() => openDialog(<LinkDialog token={name} isOwn={false} />)}
          >
            Sign-in link as {name}…
          </button>
        ) : null}
        <button type="button" className="button" onClick={another}>
          Another token
        </button>
        <Link href="/tokens" className="button">
          All tokens
        </Link>
      </div>
    </section>
  );
}
