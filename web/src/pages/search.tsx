import { useInfiniteQuery } from '@tanstack/react-query';
import type { FoundItem } from '@suzumio/sdk/client';
import { useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useListKeys } from '../acts/keys.js';
import { api } from '../api.js';
import { Copyable } from '../parts/copy.js';
import { Failure } from '../parts/failure.js';
import { FoundText } from '../parts/found.js';
import { Icon } from '../parts/icon.js';
import { placeOf, wordsFor } from '../parts/found-item.js';
import { Mark } from '../parts/mark.js';
import { visible } from '../parts/visible.js';
import { Ago } from '../parts/time.js';
import { useTitle } from '../title.js';

/** How long somebody has to rest before what they have written is looked for. */
const restMs = 250;
const mostChars = 200;

const groups: readonly [kind: FoundItem['kind'], title: string][] = [
  ['project', 'Projects'],
  ['agent', 'Agents'],
  ['turn', 'Turns'],
  ['file', 'Files'],
  ['mail', 'Mail'],
];

/** Finds words in everything that the session may see. */
export function Search() {
  const [search, setSearch] = useSearchParams();
  const asked = search.get('q') ?? '';
  const [text, setText] = useState(asked);
  const field = useRef<HTMLInputElement>(null);
  useTitle(asked === '' ? 'Search' : `${visible(asked)} · Search`);
  useListKeys({ rows: '.found-row', filter: '.search-field input' });
  useEffect(() => field.current?.focus(), []);
  // The address may change by itself, as by going back.
  useEffect(() => setText((before) => (before.trim() === asked ? before : asked)), [asked]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === asked) return undefined;
    const timer = setTimeout(() => setSearch(wanted === '' ? {} : { q: wanted }, { replace: true }), restMs);
    return () => clearTimeout(timer);
  }, [text, asked, setSearch]);
  return (
    <>
      <header className="head">
        <h1>Search</h1>
      </header>
      <div className="page search">
        <form role="search" className="search-field" onSubmit={(event) => event.preventDefault()}>
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            className="input"
            aria-label="What to look for"
            placeholder="Words, “a phrase”, or a beginning: gauge*"
            maxLength={mostChars}
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        </form>
        {asked === '' ? (
          <p className="quiet">
            Projects, agents, turns, names of files and mail are searched, in every project that you may see.
          </p>
        ) : (
          <Results key={asked} asked={asked} />
        )}
      </div>
    </>
  );
}

function Results({ asked }: { asked: string }) {
  const found = useInfiniteQuery({
    queryKey: ['search', asked],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after, signal }) =>
      api.search({ query: { q: asked, ...(after === undefined ? {} : { after }) } }, { signal }),
    getNextPageParam: ({ next }) => next,
    maxPages: 20,
    staleTime: 10_000,
  });
  if (found.error && found.data === undefined) {
    return <Failure error={found.error} again={() => void found.refetch()} />;
  }
  if (found.data === undefined) return <p className="quiet">Looking…</p>;
  const items = found.data.pages.flatMap((page) => page.items);
  const more = new Set(found.data.pages.flatMap((page) => page.more));
  const partly = new Set(found.data.pages.flatMap((page) => page.partly));
  const unreadable = found.data.pages.flatMap((page) => page.unreadable);
  return (
    <>
      <p className="skip" role="status">
        {items.length === 0 ? 'Nothing is found' : `${items.length} found`}
      </p>
      {items.length === 0 ? (
        <div className="empty">
          <h2>Nothing is found</h2>
          <p>
            In mail, words are whole: <code translate="no">gauge*</code> finds <i>gauges</i>, too.
          </p>
        </div>
      ) : null}
      {groups.map(([kind, title]) => {
        const own = items.filter((item) => item.kind === kind);
        if (own.length === 0) return null;
        return (
          <section key={kind} aria-label={title}>
            <h2>
              {title} <span className="quiet">{more.has(kind) ? `${own.length} of more` : own.length}</span>
            </h2>
            <ol className="found">
              {own.map((item) => (
                <li key={placeOf(item)}>
                  <Row item={item} />
                </li>
              ))}
            </ol>
          </section>
        );
      })}
      {found.hasNextPage ? (
        <p>
          Not every project was looked into.{' '}
          <button
            type="button"
            className="button"
            disabled={found.isFetchingNextPage}
            onClick={() => void found.fetchNextPage()}
          >
            Look further
          </button>
        </p>
      ) : null}
      {partly.size > 0 ? (
        <p className="quiet">
          Of large projects only what is newest was looked at ({[...partly].slice(0, 3).join(', ')}
          {partly.size > 3 ? ' and others' : ''}).{' '}
          <Copyable text={`suzumio search ${shellWord(asked)} --in ${[...partly][0] ?? ''}`} />
        </p>
      ) : null}
      {unreadable.length > 0 ? <p className="quiet">Unreadable: {unreadable.slice(0, 5).join(', ')}.</p> : null}
    </>
  );
}

/** A text as one word of a shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function Row({ item }: { item: FoundItem }) {
  const { mark, title, where } = wordsFor(item);
  return (
    <Link href={placeOf(item)} className="found-row">
      {mark === undefined ? (
        <Icon name={item.kind === 'agent' ? 'person' : item.kind === 'file' ? 'file' : 'folder'} />
      ) : (
        <Mark kind={mark} />
      )}
      <span className="found-words">
        <b className="clip">
          <bdi>{visible(title)}</bdi>
        </b>
        {'found' in item && item.found.length > 0 ? (
          <span className="found-text">
            <FoundText found={item.found} />
          </span>
        ) : null}
      </span>
      <span className="found-where">
        <bdi>{where}</bdi>
        {'at' in item ? (
          <>
            , <Ago at={item.at} inWords />
          </>
        ) : null}
      </span>
    </Link>
  );
}
