/**
 * The scopes of the API, each including the one before: `read` reads, `mail` also sends mail with attachments,
 * `operate` also keeps projects going, `write` also creates and changes them, `admin` also does what cannot be undone,
 * and manages tokens.
 */
export const apiScopes = ['read', 'mail', 'operate', 'write', 'admin'] as const;
export type ApiScope = (typeof apiScopes)[number];

/** Whether what a token may do includes what needs `needed`. Tokens of workers and handlers have no scope of the API. */
export function includesScope(held: string, needed: ApiScope): boolean {
  const order: readonly string[] = apiScopes;
  return order.indexOf(held) >= order.indexOf(needed);
}
