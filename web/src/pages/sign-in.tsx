import { useMutation } from '@tanstack/react-query';
import { type SubmitEvent, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { api, publicPath, queries, wordsOf } from '../api.js';
import { Copyable } from '../parts/copy.js';

/** Signs in with the code behind `#`, then opens the page that the link leads to. */
export function SignInPage() {
  const [, navigate] = useLocation();
  const entry = useMutation({
    mutationFn: (code: string) => api.createSession({ body: { code } }),
    onSuccess: async () => {
      await queries.invalidateQueries();
      const path = wantedPage();
      // The docs are pages of their own.
      if (/^\/docs\b/.test(path)) location.replace(publicPath + path);
      else navigate(path, { replace: true });
    },
  });
  const { mutate } = entry;
  useEffect(() => {
    const code = location.hash.slice(1);
    if (code === '') return;
    // A code works once; it should not stay in the history.
    history.replaceState(null, '', location.pathname + location.search);
    mutate(code);
  }, [mutate]);
  if (entry.isPending) return <p className="sign-in quiet">Signing in …</p>;
  return <SignIn problem={entry.error ? wordsOf(entry.error) : undefined} enter={mutate} />;
}

/**
 * Signs in anew over the page, which stays as it was, with all that is written in it.
 *
 * @param why the server's word on what has ended the session
 */
export function SignInOver({ name, why }: { name: string; why: string }) {
  const entry = useMutation({
    mutationFn: (code: string) => api.createSession({ body: { code } }),
    onSuccess: async ({ session }) => {
      // What somebody else has read and is not on show is nothing for this one.
      if (session.token !== name) queries.removeQueries({ type: 'inactive' });
      await queries.invalidateQueries();
    },
  });
  useFocusLater();
  return (
    <div className="sign-in-over" role="dialog" aria-modal aria-label="Sign in" tabIndex={-1} ref={takeFocus}>
      <SignIn
        problem={entry.error ? wordsOf(entry.error) : `You are signed out. ${why}`}
        kept={`The page of ${name} stays as it is, with all that is written in it, and goes on once you have signed in.`}
        enter={entry.mutate}
      />
    </div>
  );
}

/** Once this is gone, what had the focus before it has it again. */
function useFocusLater(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement) before.focus();
      if (document.activeElement === document.body) document.getElementById('content')?.focus();
    },
    [before],
  );
}

function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}

/** The page that a link leads to: one of this server. */
function wantedPage(): string {
  const path = new URLSearchParams(location.search).get('to') ?? '/';
  return /^\/(?![/\\])/.test(path) ? path : '/';
}

/** How to sign in. */
export function SignIn({
  problem,
  kept,
  enter,
}: {
  problem?: string | undefined;
  /** What becomes of the page that is open. */
  kept?: string;
  enter?: (code: string) => void;
}) {
  const [, navigate] = useLocation();
  const open = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const link = new FormData(event.currentTarget).get('link');
    const code = typeof link === 'string' ? (link.trim().split('#').at(-1) ?? '') : '';
    if (code === '') return;
    if (enter) enter(code);
    else {
      history.replaceState(null, '', location.pathname + location.search);
      const here = location.pathname + location.search;
      navigate(`/sign-in?to=${encodeURIComponent(here)}#${code}`);
    }
  };
  return (
    <main className="sign-in">
      <svg viewBox="0 0 32 32" width="40" height="40" aria-hidden>
        <rect width="32" height="32" rx="8" className="brand-ground" />
        <path d="M8 13.5c2.7-3 5.3-3 8 0s5.3 3 8 0M8 20c2.7-3 5.3-3 8 0s5.3 3 8 0" className="brand-lines" />
      </svg>
      <h1>Sign in</h1>
      {problem === undefined ? null : (
        <p className="sign-in-problem" role="alert">
          {problem}
        </p>
      )}
      {kept === undefined ? null : <p>{kept}</p>}
      <p>In a terminal that reaches this server, this opens the page, signed in:</p>
      <Copyable text="suzumio open" />
      <p className="quiet">Or have somebody who is signed in send you a link, and paste it here. It works once.</p>
      <form onSubmit={open} className="sign-in-form">
        <label className="visually-hidden" htmlFor="link">
          Link
        </label>
        <input id="link" name="link" className="input" placeholder="https://…/sign-in#…" autoComplete="off" required />
        <button type="submit" className="button button-filled">
          Sign in
        </button>
      </form>
    </main>
  );
}
