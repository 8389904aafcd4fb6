import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  expiresAtMs,
  type OwnToken,
  ownTokens,
  type TokenScope,
  type TokenView,
} from '@suzumio/contract/model/access-token';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { iso } from '../sqlite/page.js';
import { hashToken, newSecret, sameHash } from '../turns/tokens.js';

/** How old the time at which a token was last used may be. */
const seenEveryMs = 5 * 60_000;

/** The holder of the token that a request was sent with. */
export interface ApiIdentity {
  /** The token's id; null where the server requires no tokens. */
  tokenId: string | null;
  /** The id of the session that the request comes from; null where it shows the token itself. */
  sessionId: string | null;
  /** The token's name: the actor of what the request does. */
  name: string;
  scope: TokenScope;
  project: string | null;
  /** The agents whose turns a handler's token may claim; null for other tokens. */
  agents: readonly string[] | null;
}

export interface NewToken {
  name: string;
  scope: TokenScope;
  /** The only project that the token gives access to. */
  project?: string | undefined;
  /** The agents whose turns a handler's token may claim; only handlers' tokens have any. */
  agents?: readonly string[] | undefined;
  /** See `tokenExpiry`. */
  expires?: string | undefined;
  /** The name of the token that creates this one. */
  actor: string;
}

interface TokenRow {
  name: string;
  scope: TokenScope;
  project: string | null;
  agents_json: string | null;
  created_at_ms: number;
  created_by: string;
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  seen_at_ms: number | null;
  sessions: number;
  links: number;
}

/** The condition that a row of `tokens` is good at `:now`. */
export function isGoodToken(alias: string): string {
  return `${alias}.revoked_at_ms IS NULL AND (${alias}.expires_at_ms IS NULL OR ${alias}.expires_at_ms > :now)`;
}

const isGood = isGoodToken('tokens');

/**
 * The cell's tokens. Only hashes are stored. A revoked token stays in the list, so that its secret never works again;
 * its name is free for another.
 */
export class ApiTokens {
  /** When this process noted last that a token is in use, by its id. */
  readonly #noted = new Map<string, number>();

  constructor(private readonly db: CatalogDatabase) {}

  /**
   * Makes a token.
   *
   * @returns the token and its secret, which is shown only this once
   * @throws SuzumioError `token-exists` while one of that name is good; `project-unknown`; `invalid-request` for what
   *   makes no sense together
   */
  async create(token: NewToken): Promise<{ token: TokenView; secret: string }> {
    const secret = newSecret();
    refuseNonsense(token);
    return this.db.write((tx) => {
      const now = tx.nowMs;
      this.#freeName(tx, token.name);
      this.#assertProject(token.project);
      this.#insert(tx, { ...token, hash: hashToken(secret), expiresAtMs: momentFor(token.expires, now) });
      return { token: this.#newest(token.name, now), secret };
    });
  }

  /**
   * Accepts a configured secret for one of the cell's own tokens, in place of the previous one. A revoked secret stays
   * revoked.
   *
   * @returns whether the secret is valid now
   * @throws SuzumioError `settings-invalid` when it is another token's
   */
  async admit(name: OwnToken, secret: string): Promise<boolean> {
    const hash = hashToken(secret);
    // The usual case after the first start: nothing to write.
    return (
      this.#admitted(name, hash) ?? this.db.write((tx) => this.#admitted(name, hash) ?? this.#admitNow(tx, name, hash))
    );
  }

  /** The holder of this secret; undefined where it is not valid. */
  identify(secret: string): ApiIdentity | undefined {
    const hash = hashToken(secret);
    const row = this.db.reader.get<
      Omit<ApiIdentity, 'agents' | 'sessionId'> & { agents_json: string | null; hash: string }
    >(`SELECT id AS tokenId, name, scope, project, agents_json, hash FROM tokens WHERE hash = :hash AND ${isGood}`, {
      hash,
      now: this.db.nowMs,
    });
    if (!row || !sameHash(row.hash, hash)) return undefined;
    const { tokenId, name, scope, project } = row;
    return { tokenId, sessionId: null, name, scope, project, agents: agentsOf(row) };
  }

  /** Whether a token is neither revoked nor expired, and the session, where it is used through one, has not ended. */
  stillGood(tokenId: string, sessionId: string | null = null): boolean {
    const params = { id: tokenId, session: sessionId, now: this.db.nowMs };
    const session = 'SELECT 1 FROM sessions WHERE id = :session AND token_id = :id AND expires_at_ms > :now';
    const inUse = `:session IS NULL OR EXISTS (${session})`;
    return (
      this.db.reader.get(`SELECT id FROM tokens WHERE id = :id AND ${isGood} AND (${inUse})`, params) !== undefined
    );
  }

  /**
   * Notes that a token is in use, at most once in five minutes. Nobody waits for it; where it fails, as on a full disk,
   * what uses the token goes on.
   */
  seen(id: string): void {
    const now = this.db.nowMs;
    if (Math.abs(now - (this.#noted.get(id) ?? Number.NEGATIVE_INFINITY)) < seenEveryMs) return;
    this.#noted.set(id, now);
    const note = async () =>
      this.db.write((tx) => tx.run('UPDATE tokens SET seen_at_ms = :now WHERE id = :id', { id, now: tx.nowMs }));
    note().catch(() => undefined);
  }

  /**
   * The id of the token of a name that is good.
   *
   * @throws SuzumioError `token-unknown`
   */
  good(name: string): { id: string; scope: TokenScope } {
    const params = { name, now: this.db.nowMs };
    return (
      this.db.reader.get<{ id: string; scope: TokenScope }>(
        `SELECT id, scope FROM tokens WHERE name = :name AND ${isGood}`,
        params,
      ) ?? unknown(name)
    );
  }

  /** Every token, past ones included, oldest first. */
  list(): TokenView[] {
    return this.#list(this.db.nowMs);
  }

  /**
   * Revokes a token, at once and for ever. A second call changes nothing.
   *
   * @throws SuzumioError `token-unknown`
   */
  async revoke(name: string): Promise<TokenView> {
    return this.db.write((tx) => {
      const now = tx.nowMs;
      this.#revoke(tx, name);
      return this.#newest(name, now);
    });
  }

  /** Whether a known secret is valid; undefined where it is not known. */
  #admitted(name: OwnToken, hash: string): boolean | undefined {
    const row = this.db.reader.get<{ name: string; scope: TokenScope; revoked: number }>(
      'SELECT name, scope, revoked_at_ms IS NOT NULL AS revoked FROM tokens WHERE hash = :hash',
      { hash },
    );
    if (!row || (row.name === name && row.scope === ownTokens[name])) return row && row.revoked === 0;
    throw new SuzumioError(
      'settings-invalid',
      `The secret that is given for the token "${name}" is that of "${row.name}"; each needs one of its own.`,
    );
  }

  #admitNow(tx: CatalogTx, name: OwnToken, hash: string): boolean {
    tx.run('DELETE FROM tokens WHERE name = :name AND revoked_at_ms IS NULL', { name });
    this.#insert(tx, { name, scope: ownTokens[name], actor: 'system', hash, expiresAtMs: null });
    return true;
  }

  /** A name is free again when its token has ended. */
  #freeName(tx: CatalogTx, name: string): void {
    if (this.db.reader.get(`SELECT id FROM tokens WHERE name = :name AND ${isGood}`, { name, now: tx.nowMs })) {
      throw new SuzumioError(
        'token-exists',
        `There is a token "${name}" already; revoke it first, or give this one another name.`,
        { token: name },
      );
    }
    this.#revoke(tx, name);
  }

  #revoke(tx: CatalogTx, name: string): void {
    tx.run('UPDATE tokens SET revoked_at_ms = :now WHERE name = :name AND revoked_at_ms IS NULL', {
      name,
      now: tx.nowMs,
    });
  }

  #assertProject(project: string | undefined): void {
    const known = 'SELECT id FROM projects WHERE id = :project AND deleting_epoch IS NULL';
    if (project === undefined || this.db.reader.get(known, { project })) return;
    throw new SuzumioError('project-unknown', `There is no project "${project}" that a token could be for.`, {
      project,
    });
  }

  #insert(tx: CatalogTx, token: Omit<NewToken, 'expires'> & { hash: string; expiresAtMs: number | null }): void {
    tx.run(
      `INSERT INTO tokens (id, name, scope, project, agents_json, hash, created_at_ms, created_by, expires_at_ms)
       VALUES (:id, :name, :scope, :project, :agents, :hash, :now, :actor, :expiresAtMs)`,
      {
        id: tx.newId('tok'),
        name: token.name,
        scope: token.scope,
        project: token.project ?? null,
        agents: token.agents === undefined ? null : JSON.stringify([...new Set(token.agents)]),
        hash: token.hash,
        now: tx.nowMs,
        actor: token.actor,
        expiresAtMs: token.expiresAtMs,
      },
    );
  }

  #newest(name: string, now: number): TokenView {
    const token = this.#list(now).findLast((candidate) => candidate.name === name);
    return token ?? unknown(name);
  }

  #list(now: number): TokenView[] {
    // A catalog of before, which is read without being brought up to date, does not know it.
    const knowsSeen = this.db.reader.get(`SELECT 1 FROM pragma_table_info('tokens') WHERE name = 'seen_at_ms'`);
    const seenAt = knowsSeen ? 'seen_at_ms' : 'NULL AS seen_at_ms';
    return this.db.reader
      .all<TokenRow>(
        `SELECT name, scope, project, agents_json, created_at_ms, created_by, expires_at_ms, revoked_at_ms, ${seenAt},
           (SELECT count(*) FROM sessions s WHERE s.token_id = tokens.id AND s.expires_at_ms > :now AND ${isGood}) AS sessions,
           (SELECT count(*) FROM sign_in_links l WHERE l.token_id = tokens.id AND l.expires_at_ms > :now AND ${isGood}) AS links
         FROM tokens ORDER BY created_at_ms, id`,
        { now },
      )
      .map((row) => ({
        name: row.name,
        scope: row.scope,
        project: row.project,
        agents: agentsOf(row),
        state: stateOf(row, now),
        createdAt: iso(row.created_at_ms),
        createdBy: row.created_by,
        expiresAt: iso(row.expires_at_ms),
        revokedAt: iso(row.revoked_at_ms),
        seenAt: iso(row.seen_at_ms),
        sessions: row.sessions,
        links: row.links,
      }));
  }
}

function unknown(name: string): never {
  throw new SuzumioError('token-unknown', `There is no token "${name.slice(0, 80)}".`, { token: name.slice(0, 80) });
}

function stateOf({ revoked_at_ms, expires_at_ms }: TokenRow, now: number): TokenView['state'] {
  if (revoked_at_ms !== null) return 'revoked';
  return expires_at_ms !== null && expires_at_ms <= now ? 'expired' : 'good';
}

function agentsOf({ agents_json }: { agents_json: string | null }): string[] | null {
  return agents_json === null ? null : (JSON.parse(agents_json) as string[]);
}

function refuseNonsense({ scope, project, agents }: NewToken): void {
  const refuse = (message: string) => new SuzumioError('invalid-request', message);
  if (scope === 'worker' && project !== undefined) {
    throw refuse("A worker's token is for every project of the cell; leave the project out.");
  }
  if (scope === 'handler' && (project === undefined || agents === undefined || agents.length === 0)) {
    throw refuse("A handler's token is for some agents of one project; name the project and the agents.");
  }
  if (scope !== 'handler' && agents !== undefined) {
    throw refuse("Only a handler's token is for some agents; leave the agents out.");
  }
}

function momentFor(expires: string | undefined, now: number): number | null {
  if (expires === undefined) return null;
  const atMs = expiresAtMs(expires, now);
  if (atMs !== undefined) return atMs;
  throw new SuzumioError('invalid-request', 'A token ends between now and ten years from now, or never.');
}
