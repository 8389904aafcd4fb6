import { createClient, SuzumioError } from '@suzumio/sdk/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

/** The path that a proxy serves this page below, without a slash at its end. */
export const publicPath = document.querySelector<HTMLMetaElement>('meta[name="suzumio-path"]')?.content ?? '';

/** The server that this page comes from. Its cookie says who asks. */
export const api = createClient({ url: `${location.origin}${publicPath}` });

/** What the page has read. Old data is kept while it is read again, and shown while that fails. */
export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== keys.session[0]) askWhoIsIn(error);
    },
  }),
  mutationCache: new MutationCache({ onError: askWhoIsIn }),
  defaultOptions: {
    queries: {
      // A server on this machine is there without a network.
      networkMode: 'always',
      // Events say what has changed.
      staleTime: Infinity,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => isRetryable(error) && count < 2,
      retryDelay: (count) => 500 * 2 ** count,
    },
    mutations: { networkMode: 'always' },
  },
});

/** Keys of what is read: everything of one project begins alike. */
export const keys = {
  session: ['session'],
  projects: ['projects'],
  inbox: ['inbox'],
  /** What of the inbox is told by notifications. */
  news: ['news'],
  decided: ['decided'],
  fleet: ['fleet'],
  system: ['system'],
  tokens: ['tokens'],
  sessions: ['sessions'],
  profiles: ['profiles'],
  teams: ['teams'],
  project: (project: string) => ['project', project],
  /** What agents of a project wait for. */
  why: (project: string) => ['why', project],
  /** What is shown of all projects. */
  eachProject: [['project'], ['why']],
} as const;

/** Where the session has ended, whoever is signed in is asked anew, and the page says so. */
export function askWhoIsIn(error: unknown): void {
  if (isUnauthenticated(error)) queries.invalidateQueries({ queryKey: keys.session }).catch(() => undefined);
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof SuzumioError && error.code === 'unauthenticated';
}

/** Whether the session's scope is too small for what was asked. */
export function isForbidden(error: unknown): boolean {
  return error instanceof SuzumioError && error.code === 'forbidden';
}

function isRetryable(error: unknown): boolean {
  return error instanceof SuzumioError && error.retryable;
}

/** What went wrong, in the server's own words. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
