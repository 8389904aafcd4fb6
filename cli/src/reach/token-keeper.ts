import type { Client } from '@suzumio/contract/client/client';
import type { AuditEntry, TokenView } from '@suzumio/contract/model/access-token';
import type { CreatedTokenAnswer, CreateTokenRequest } from '@suzumio/contract/operations/tokens';
import { Catalog } from '@suzumio/store/cell/catalog';
import { systemContext } from '@suzumio/store/sqlite/context';
import { DataDirectory } from '@suzumio/store/cell/data-directory';

/** The tokens of a cell, and the refusals of valid ones. */
export interface TokenKeeper {
  create(token: CreateTokenRequest): Promise<CreatedTokenAnswer>;
  list(): Promise<TokenView[]>;
  revoke(name: string): Promise<TokenView>;
  /** The newest refusals, oldest first. */
  audit(limit: number): Promise<AuditEntry[]>;
}

/** By way of a server, with an administrator's token. */
export function tokensOverHttp(api: Client): TokenKeeper {
  return {
    create: (token) => api.createToken({ body: token }),
    list: async () => (await api.listTokens()).items,
    revoke: async (name) => (await api.revokeToken({ token: name })).token,
    audit: async (limit) => (await api.listAudit({ query: { limit } })).items,
  };
}

/**
 * Tokens in the data directory itself, which needs no token: its owner may write it. Running servers see changes at
 * once.
 */
export function tokensInDirectory(root: string): TokenKeeper {
  const directory = new DataDirectory(root);
  async function withCatalog<Result>(body: (catalog: Catalog) => Promise<Result> | Result): Promise<Result> {
    directory.prepare();
    const catalog = Catalog.open(directory, systemContext());
    try {
      return await body(catalog);
    } finally {
      await catalog.close();
    }
  }
  // Reading creates no directory.
  const listed = async <Item>(list: (catalog: Catalog) => Item[]) => (directory.exists() ? withCatalog(list) : []);
  return {
    create: (token) => withCatalog(({ tokens }) => tokens.create({ ...token, actor: 'user' })),
    list: () => listed(({ tokens }) => tokens.list()),
    revoke: (name) => withCatalog(({ tokens }) => tokens.revoke(name)),
    audit: (limit) => listed(({ audit }) => audit.list({ limit })),
  };
}
