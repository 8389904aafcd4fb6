import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TeamSummary, TeamView } from '@suzumio/contract/model/profile';
import type { StoreContext } from '../sqlite/context.js';
import { iso } from '../sqlite/page.js';
import type { Sql } from '../sqlite/sql.js';
import { type IdempotencyKey, once } from '../sqlite/once.js';
import type { Json } from '../sqlite/tx.js';
import type { Writer } from '../sqlite/writer.js';

interface TeamRow {
  name: string;
  description: string;
  project: string | null;
  members: number;
  created_at_ms: number;
  updated_at_ms: number;
}

const columns = `SELECT name, description, teams.created_at_ms, updated_at_ms,
    (SELECT id FROM projects WHERE id = project AND deleting_epoch IS NULL) AS project,
    (SELECT count(*) FROM profiles WHERE team = name AND retired_at_ms IS NULL) AS members
  FROM teams`;

/** The teams that profiles are in. */
export class Teams {
  constructor(
    private readonly sql: Sql,
    private readonly writer: Writer,
    private readonly context: StoreContext,
  ) {}

  /** @throws SuzumioError `team-exists`, `idempotency-mismatch` */
  async create(team: { name: string; description: string }, key?: IdempotencyKey): Promise<TeamView> {
    return this.#once(key, (nowMs) => {
      const { name } = team;
      if (this.sql.get('SELECT 1 FROM teams WHERE name = :name', { name })) {
        throw new SuzumioError('team-exists', `There is a team "${name}" already.`, { team: name });
      }
      this.sql.run(
        `INSERT INTO teams (name, description, created_at_ms, updated_at_ms)
         VALUES (:name, :description, :nowMs, :nowMs)`,
        { ...team, nowMs },
      );
      return this.get(name);
    });
  }

  /** @throws SuzumioError `team-unknown` */
  get(name: string): TeamView {
    const row = this.sql.get<TeamRow>(`${columns} WHERE name = :name`, { name }) ?? unknownTeam(this.sql, name);
    const members = this.sql.all<TeamView['members'][number]>(
      'SELECT id, nickname, role FROM profiles WHERE team = :name AND retired_at_ms IS NULL ORDER BY nickname',
      { name },
    );
    return { ...summaryOf(row), members };
  }

  /** In the order of their names, those after one. */
  list({ after = '', limit }: { after?: string | undefined; limit: number }): TeamSummary[] {
    return this.sql
      .all<TeamRow>(`${columns} WHERE name > :after ORDER BY name LIMIT :limit`, { after, limit })
      .map(summaryOf);
  }

  /** @throws SuzumioError `team-unknown`, `idempotency-mismatch` */
  async update(name: string, { description }: { description: string }, key?: IdempotencyKey): Promise<TeamView> {
    return this.#once(key, (nowMs) => {
      const params = { name, description, nowMs };
      this.sql.run('UPDATE teams SET description = :description, updated_at_ms = :nowMs WHERE name = :name', params);
      return this.get(name);
    });
  }

  /**
   * Deletes a team in which nobody is. Retired profiles that were in it are in none then.
   *
   * @throws SuzumioError `team-unknown`, `team-not-empty`
   */
  async delete(name: string): Promise<void> {
    await this.writer.write(() => {
      const { members, project } = this.get(name);
      const refuse = (why: string) => new SuzumioError('team-not-empty', `${name} ${why}`, { team: name });
      if (members.length > 0) {
        const who = members.slice(0, 20).map(({ nickname }) => nickname);
        throw refuse(`has members: ${who.join(', ')}. Retire them, or put them into another team, first.`);
      }
      if (project !== null) throw refuse(`has a standing project, ${project}. Delete that first.`);
      this.sql.run('UPDATE profiles SET team = NULL WHERE team = :name', { name });
      this.sql.run('DELETE FROM teams WHERE name = :name', { name });
    });
  }

  /** Says which project is a team's own, within the transaction that names the project. */
  stand({ team, instead }: { team: string; instead: boolean }, project: string): void {
    this.sql.run('UPDATE teams SET project = :project WHERE name = :team AND (:instead OR project IS NULL)', {
      team,
      project,
      instead: instead ? 1 : 0,
    });
  }

  #once<Answer extends Json>(key: IdempotencyKey | undefined, effect: (nowMs: number) => Answer): Promise<Answer> {
    const { sql } = this;
    return this.writer.write(() => {
      const nowMs = this.context.now();
      return once({ nowMs, get: sql.get.bind(sql), run: sql.run.bind(sql) }, key, () => effect(nowMs));
    });
  }
}

/** @throws SuzumioError `team-unknown`, which names those that there are */
export function unknownTeam(sql: Sql, name: string): never {
  const known = sql.all<{ name: string }>('SELECT name FROM teams ORDER BY name').map((team) => team.name);
  const shown = name.slice(0, 80);
  throw new SuzumioError('team-unknown', `There is no team "${shown}"${hintFrom(name, known)}`, { team: shown });
}

function summaryOf(row: TeamRow): TeamSummary {
  return {
    name: row.name,
    description: row.description,
    members: row.members,
    project: row.project,
    createdAt: iso(row.created_at_ms),
    updatedAt: iso(row.updated_at_ms),
  };
}
