import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TokenScope } from '@suzumio/contract/model/access-token';
import type { SessionView } from '@suzumio/contract/model/session';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { iso } from '../sqlite/page.js';
import { hashToken, newSecret, sameHash } from '../turns/tokens.js';
import { type ApiIdentity, isGoodToken } from './api-tokens.js';

const linkLifeMs = 10 * 60_000;
const sessionLifeMs = 30 * 86_400_000;
/** How old the time at which a session was last used may be. */
const seenEveryMs = 5 * 60_000;
const linksPerToken = 20;
const sessionsPerToken = 100;
const maxAgentChars = 200;

/** What a session shows of itself to those who may see it. */
interface SessionRow {
  id: string;
  token: string;
  created_at_ms: number;
  seen_at_ms: number;
  expires_at_ms: number;
  address: string;
  agent: string;
}

/** Whose sessions are meant: all, or those of one token. */
export type SessionsOf = { tokenId: string } | 'everybody';

const columns = 's.id, t.name AS token, s.created_at_ms, s.seen_at_ms, s.expires_at_ms, s.address, s.agent';
const goodSessions = `FROM sessions s JOIN tokens t ON t.id = s.token_id
  WHERE s.expires_at_ms > :now AND ${isGoodToken('t')}`;

/**
 * Browsers that are signed in, and the links that sign them in. Only hashes are stored. Both belong to a token: they open
 * what it opens at the time of a request, and nothing once it has ended.
 */
export class Sessions {
  constructor(private readonly db: CatalogDatabase) {}

  /**
   * Makes the code of a link, which opens a session once, within ten minutes.
   *
   * @returns the code, which is shown only this once
   */
  async createLink(tokenId: string): Promise<{ code: string; expiresAt: string }> {
    const code = newSecret();
    return this.db.write((tx) => {
      const expiresAtMs = tx.nowMs + linkLifeMs;
      tx.run('DELETE FROM sign_in_links WHERE expires_at_ms <= :now', { now: tx.nowMs });
      tx.run(
        `DELETE FROM sign_in_links WHERE hash IN (
           SELECT hash FROM sign_in_links WHERE token_id = :tokenId ORDER BY created_at_ms DESC, hash LIMIT -1 OFFSET :kept)`,
        { tokenId, kept: linksPerToken - 1 },
      );
      tx.run(
        `INSERT INTO sign_in_links (hash, token_id, created_at_ms, expires_at_ms)
         VALUES (:hash, :tokenId, :now, :expiresAtMs)`,
        { hash: hashToken(code), tokenId, now: tx.nowMs, expiresAtMs },
      );
      return { code, expiresAt: iso(expiresAtMs) };
    });
  }

  /**
   * Opens a session with the code of a link, which ends.
   *
   * @returns the session and its secret, which only the browser keeps
   * @throws SuzumioError `sign-in-link-ended` where the code is unknown, used or too old, or its token has ended
   */
  async open(
    code: string,
    from: { address: string; agent: string },
  ): Promise<{ session: SessionView; secret: string }> {
    const secret = newSecret();
    return this.db.write((tx) => {
      const tokenId = this.#useLink(tx, code);
      if (tokenId === undefined) throw linkEnded();
      const id = tx.newId('ses');
      tx.run('DELETE FROM sessions WHERE expires_at_ms <= :now', { now: tx.nowMs });
      tx.run(
        `DELETE FROM sessions WHERE id IN (
           SELECT id FROM sessions WHERE token_id = :tokenId ORDER BY seen_at_ms DESC, id LIMIT -1 OFFSET :kept)`,
        { tokenId, kept: sessionsPerToken - 1 },
      );
      tx.run(
        `INSERT INTO sessions (id, hash, token_id, created_at_ms, seen_at_ms, expires_at_ms, address, agent)
         VALUES (:id, :hash, :tokenId, :now, :now, :expiresAtMs, :address, :agent)`,
        {
          id,
          hash: hashToken(secret),
          tokenId,
          now: tx.nowMs,
          expiresAtMs: tx.nowMs + sessionLifeMs,
          address: from.address,
          agent: from.agent.slice(0, maxAgentChars),
        },
      );
      return { session: this.#one(tx, id, id), secret };
    });
  }

  /** The holder of a session's secret, as its token is now; undefined where the session or the token has ended. */
  identify(secret: string): ApiIdentity | undefined {
    const hash = hashToken(secret);
    const row = this.db.reader.get<{
      sessionId: string;
      tokenId: string;
      name: string;
      scope: TokenScope;
      project: string | null;
      hash: string;
    }>(
      `SELECT s.id AS sessionId, t.id AS tokenId, t.name, t.scope, t.project, s.hash ${goodSessions} AND s.hash = :hash`,
      {
        hash,
        now: this.db.nowMs,
      },
    );
    if (!row || !sameHash(row.hash, hash)) return undefined;
    const { sessionId, tokenId, name, scope, project } = row;
    return { tokenId, sessionId, name, scope, project, agents: null };
  }

  /** Notes that a session is in use, unless that was noted in the last five minutes. */
  async seen(id: string): Promise<void> {
    const params = { id, now: this.db.nowMs, before: this.db.nowMs - seenEveryMs };
    if (!this.db.reader.get('SELECT id FROM sessions WHERE id = :id AND seen_at_ms < :before', params)) return;
    await this.db.write((tx) => tx.run('UPDATE sessions SET seen_at_ms = :now WHERE id = :id', { id, now: tx.nowMs }));
  }

  /** Sessions that have not ended, the newest first. `current` is the id of the one that asks. */
  list(of: SessionsOf, current: string | null): SessionView[] {
    return this.db.reader
      .all<SessionRow>(`SELECT ${columns} ${goodSessions} ${whose(of)} ORDER BY s.created_at_ms DESC, s.id DESC`, {
        now: this.db.nowMs,
        ...(of === 'everybody' ? {} : of),
      })
      .map((row) => viewOf(row, current));
  }

  /**
   * Ends a session, at once and for ever.
   *
   * @throws SuzumioError `session-unknown` where there is none of that id among those
   */
  async end(id: string, of: SessionsOf, current: string | null): Promise<SessionView> {
    return this.db.write((tx) => {
      const ended = this.#one(tx, id, current, of);
      tx.run('DELETE FROM sessions WHERE id = :id', { id });
      return ended;
    });
  }

  /**
   * Ends all sessions of a token at once, and the links that would open others.
   *
   * @param kept the id of a session that stays
   * @returns those that have ended
   */
  async endAll(tokenId: string, current: string | null, kept: string | null = null): Promise<SessionView[]> {
    return this.db.write((tx) => {
      const those = { tokenId, kept };
      const ended = tx.all<SessionRow>(
        `SELECT ${columns} ${goodSessions} AND s.token_id = :tokenId AND s.id IS NOT :kept
         ORDER BY s.created_at_ms DESC, s.id DESC`,
        { ...those, now: tx.nowMs },
      );
      tx.run('DELETE FROM sessions WHERE token_id = :tokenId AND id IS NOT :kept', those);
      tx.run('DELETE FROM sign_in_links WHERE token_id = :tokenId', { tokenId });
      return ended.map((row) => viewOf(row, current));
    });
  }

  /** Why the session of a secret opens nothing any more. */
  whyEnded(secret: string): string {
    const token = this.db.reader.get<{ name: string; revoked: number; ended: number }>(
      `SELECT t.name, t.revoked_at_ms IS NOT NULL AS revoked, s.expires_at_ms <= :now AS ended
       FROM sessions s JOIN tokens t ON t.id = s.token_id WHERE s.hash = :hash`,
      { hash: hashToken(secret), now: this.db.nowMs },
    );
    if (token?.revoked) return `The token "${token.name}" was revoked, and the session ended with it.`;
    if (token && !token.ended) return `The token "${token.name}" has expired, and the session ended with it.`;
    return 'The session has ended: somebody signed it out, or it is older than thirty days.';
  }

  #useLink(tx: CatalogTx, code: string): string | undefined {
    const hash = hashToken(code);
    const link = tx.get<{ tokenId: string; hash: string }>(
      `SELECT l.token_id AS tokenId, l.hash FROM sign_in_links l JOIN tokens t ON t.id = l.token_id
       WHERE l.hash = :hash AND l.expires_at_ms > :now AND ${isGoodToken('t')}`,
      { hash, now: tx.nowMs },
    );
    if (!link || !sameHash(link.hash, hash)) return undefined;
    tx.run('DELETE FROM sign_in_links WHERE hash = :hash', { hash });
    return link.tokenId;
  }

  #one(tx: CatalogTx, id: string, current: string | null, of: SessionsOf = 'everybody'): SessionView {
    const row = tx.get<SessionRow>(`SELECT ${columns} ${goodSessions} ${whose(of)} AND s.id = :id`, {
      id,
      now: tx.nowMs,
      ...(of === 'everybody' ? {} : of),
    });
    if (row) return viewOf(row, current);
    throw new SuzumioError('session-unknown', `There is no session "${id.slice(0, 80)}" that could be ended here.`);
  }
}

function whose(of: SessionsOf): string {
  return of === 'everybody' ? '' : 'AND s.token_id = :tokenId';
}

function viewOf(row: SessionRow, current: string | null): SessionView {
  const { id, token, address, agent } = row;
  return {
    id,
    token,
    createdAt: iso(row.created_at_ms),
    seenAt: iso(row.seen_at_ms),
    expiresAt: iso(row.expires_at_ms),
    address,
    agent,
    current: id === current,
  };
}

function linkEnded(): SuzumioError {
  return new SuzumioError(
    'sign-in-link-ended',
    'This link signs nobody in: it was used, is older than ten minutes, or its token has ended. Ask for another one: suzumio open.',
  );
}
