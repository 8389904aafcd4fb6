import type { CatalogDatabase } from '../sqlite/catalog-database.js';

/** The provider hosts that the cell has ever connected to: a host that never answered may be a mistake in a setting. */
export class ReachedHosts {
  readonly #known = new Set<string>();

  constructor(private readonly db: CatalogDatabase) {}

  /** @param host with its port, as in a URL */
  has(host: string): boolean {
    if (!this.#known.has(host) && this.db.reader.get('SELECT 1 FROM reached_hosts WHERE host = :host', { host })) {
      this.#known.add(host);
    }
    return this.#known.has(host);
  }

  async add(host: string): Promise<void> {
    if (this.has(host)) return;
    await this.db.write((tx) =>
      tx.run('INSERT INTO reached_hosts (host, at_ms) VALUES (:host, :now) ON CONFLICT (host) DO NOTHING', {
        host,
        now: tx.nowMs,
      }),
    );
  }
}
