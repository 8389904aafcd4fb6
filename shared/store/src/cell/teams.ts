import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TeamSummary, TeamView } from '@suzumio/contract/model/profile';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { type IdempotencyKey } from '../sqlite/once.js';

interface TeamRow {
  name: string;
  description: string;
  project: string | null;
  members: number;
  created_at_ms: number;
  updated_at_ms: number;
}

const teamColumns = `name, description, teams.created_at_ms, updated_at_ms,
    (SELECT id FROM projects WHERE id = project AND deleting_epoch IS NULL) AS project,
    (SELECT count(*) FROM profiles WHERE team = name AND retired_at_ms IS NULL) AS members`;
const columns = `SELECT ${teamColumns} FROM teams`;

/** The teams that profiles are in. */
export class Teams {
  constructor(private readonly db: CatalogDatabase) {}

  /** @throws SuzumioError `team-exists`, `idempotency-mismatch` */
  async create(team: { name: string; description: string }, key?: IdempotencyKey): Promise<TeamView> {
    return this.db.writeOnce(key, (tx) => {
      const { name } = team;
      if (this.db.reader.get('SELECT 1 FROM teams WHERE name = :name', { name })) {
        throw new SuzumioError('team-exists', `There is a team "${name}" already.`, { team: name });
      }
      tx.run(
        `INSERT INTO teams (name, description, created_at_ms, updated_at_ms)
         VALUES (:name, :description, :nowMs, :nowMs)`,
        { ...team, nowMs: tx.nowMs },
      );
      return this.get(name);
    });
  }

  /** @throws SuzumioError `team-unknown` */
  get(name: string): TeamView {
    const row =
      this.db.reader.get<TeamRow>(`${columns} WHERE name = :name`, { name }) ?? unknownTeam(this.db.reader, name);
    const members = this.db.reader.all<TeamView['members'][number]>(
      'SELECT id, nickname, role FROM profiles WHERE team = :name AND retired_at_ms IS NULL ORDER BY nickname',
      { name },
    );
    return { ...summaryOf(row), members };
  }

  /** Teams by name, those after `after`. */
  list(page: Page<string>): Part<TeamSummary, string> {
    return readPart<TeamRow, TeamSummary, string>(
      this.db.reader,
      { from: 'teams', columns: teamColumns, key: 'name', grows: false },
      page,
      summaryOf,
    );
  }

  /** @throws SuzumioError `team-unknown`, `idempotency-mismatch` */
  async update(name: string, { description }: { description: string }, key?: IdempotencyKey): Promise<TeamView> {
    return this.db.writeOnce(key, (tx) => {
      const params = { name, description, nowMs: tx.nowMs };
      tx.run('UPDATE teams SET description = :description, updated_at_ms = :nowMs WHERE name = :name', params);
      return this.get(name);
    });
  }

  /**
   * Deletes a team without active members. Its retired profiles belong to none then.
   *
   * @throws SuzumioError `team-unknown`, `team-not-empty`
   */
  async delete(name: string): Promise<void> {
    await this.db.write((tx) => {
      const { members, project } = this.get(name);
      const refuse = (why: string) => new SuzumioError('team-not-empty', `${name} ${why}`, { team: name });
      if (members.length > 0) {
        const who = members.slice(0, 20).map(({ nickname }) => nickname);
        throw refuse(`has members: ${who.join(', ')}. Retire them, or put them into another team, first.`);
      }
      if (project !== null) throw refuse(`has a standing project, ${project}. Delete that first.`);
      tx.run('UPDATE profiles SET team = NULL WHERE team = :name', { name });
      tx.run('DELETE FROM teams WHERE name = :name', { name });
    });
  }

  /** Sets a team's standing project, within the transaction that names the project. */
  stand(tx: CatalogTx, { team, instead }: { team: string; instead: boolean }, project: string): void {
    tx.run('UPDATE teams SET project = :project WHERE name = :team AND (:instead OR project IS NULL)', {
      team,
      project,
      instead: instead ? 1 : 0,
    });
  }
}

/** @throws SuzumioError `team-unknown`, which names those that there are */
export function unknownTeam(sql: SqlReader, name: string): never {
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
