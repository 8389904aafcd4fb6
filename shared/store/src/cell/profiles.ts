import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProfileSummary, ProfileView } from '@suzumio/contract/model/profile';
import type { Skill } from '@suzumio/contract/model/skill';
import { checkPersona } from '@suzumio/core/profiles/persona';
import type { ProfileRegistry } from '@suzumio/core/profiles/registry';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { type Edit, requireNewest } from '../edits.js';
import { definedOf, iso, type Page, type Part, readPart } from '../sqlite/page.js';
import { unknownTeam } from './teams.js';
import { type IdempotencyKey } from '../sqlite/once.js';

/** The fields of a profile that people write. */
export interface ProfileFields {
  role: string;
  team: string | null;
  persona: string;
  model: string | null;
  skills: Skill[];
}

export type NewProfile = ProfileFields & { nickname: string };

/** The fields to change; the others stay. */
export type ProfileChange = { [Field in keyof ProfileFields]?: ProfileFields[Field] | undefined } & Edit;

/** Which profiles are listed, in the order of their nicknames. */
export interface ProfileListing extends Page<string> {
  role?: string | undefined;
  team?: string | undefined;
  /** Retired profiles instead of active ones. @default false */
  retired?: boolean | undefined;
}

interface ProfileRow {
  id: string;
  nickname: string;
  role: string;
  team: string | null;
  persona: string;
  model: string | null;
  skills_json: string;
  created_at_ms: number;
  updated_at_ms: number;
  retired_at_ms: number | null;
  version: number;
  edited_by: string | null;
  field_versions_json: string;
}

/**
 * The cell's persistent identities. None is ever removed: a retired one keeps its nickname, so that mail by it or to it
 * is never attributed to another.
 */
export class Profiles implements ProfileRegistry {
  constructor(private readonly db: CatalogDatabase) {}

  /** @throws SuzumioError `profile-exists`, `persona-invalid`, `team-unknown`, `idempotency-mismatch` */
  async create(profile: NewProfile, key?: IdempotencyKey): Promise<ProfileView> {
    checkPersona(profile.persona);
    return this.db.writeOnce(key, (tx) => {
      const { nickname } = profile;
      const taken = this.#row(nickname);
      if (taken) {
        const still = taken.retired_at_ms === null ? '' : ', which is retired and keeps its name';
        throw new SuzumioError('profile-exists', `There is a profile "${nickname}" already${still}.`, { nickname });
      }
      this.#assertTeam(profile.team);
      tx.run(
        `INSERT INTO profiles (id, nickname, role, team, persona, model, skills_json, created_at_ms, updated_at_ms)
         VALUES (:id, :nickname, :role, :team, :persona, :model, :skills, :nowMs, :nowMs)`,
        { ...columnsOf(profile), id: randomUUID(), nickname, nowMs: tx.nowMs },
      );
      return this.get(nickname);
    });
  }

  /**
   * A profile, by its nickname or its id.
   *
   * @throws SuzumioError `profile-unknown`
   */
  get(name: string): ProfileView {
    return this.find(name) ?? this.#unknown(name);
  }

  find(name: string): ProfileView | undefined {
    const row = this.#row(name);
    return row && viewOf(row);
  }

  nicknames(): string[] {
    return this.db.reader
      .all<{ nickname: string }>('SELECT nickname FROM profiles WHERE retired_at_ms IS NULL ORDER BY nickname')
      .map(({ nickname }) => nickname);
  }

  list({ role, team, retired = false, ...page }: ProfileListing): Part<ProfileSummary, string> {
    return readPart<ProfileRow, ProfileSummary, string>(
      this.db.reader,
      {
        from: 'profiles',
        key: 'nickname',
        where: [
          `retired_at_ms IS ${retired ? 'NOT NULL' : 'NULL'}`,
          role === undefined ? undefined : 'role = :role',
          team === undefined ? undefined : 'team = :team',
        ],
        params: definedOf({ role, team }),
        grows: false,
      },
      page,
      summaryOf,
    );
  }

  /**
   * Changes a profile. Projects that started from it keep their copy.
   *
   * @throws SuzumioError `profile-unknown`, `profile-retired`, `persona-invalid`, `team-unknown`,
   *   `edit-conflict`, `idempotency-mismatch`
   */
  async update(name: string, change: ProfileChange, key?: IdempotencyKey): Promise<ProfileView> {
    if (change.persona !== undefined) checkPersona(change.persona);
    return this.db.writeOnce(key, (tx) => {
      const profile = this.get(name);
      refuseRetired(profile);
      const { role, team, persona, model, skills, actor, base } = change;
      const written = this.#writtenIn(profile.id);
      const since = Object.keys(written).filter((field) => base !== undefined && (written[field] ?? 0) > base);
      requireNewest(`The profile ${profile.nickname}`, base, profile, since);
      const given = Object.entries({ role, team, persona, model, skills }).filter(
        ([field, value]) => value !== undefined && !isDeepStrictEqual(value, profile[field as keyof ProfileFields]),
      );
      if (given.length === 0) return profile;
      const changed: ProfileFields = { ...profile, ...Object.fromEntries(given) };
      this.#assertTeam(changed.team);
      const version = profile.version + 1;
      tx.run(
        `UPDATE profiles SET role = :role, team = :team, persona = :persona, model = :model, skills_json = :skills,
           version = :version, edited_by = :actor, field_versions_json = :written, updated_at_ms = :nowMs
         WHERE id = :id`,
        {
          ...columnsOf(changed),
          version,
          actor,
          written: JSON.stringify({ ...written, ...Object.fromEntries(given.map(([field]) => [field, version])) }),
          id: profile.id,
          nowMs: tx.nowMs,
        },
      );
      return this.get(profile.id);
    });
  }

  /**
   * Retires a profile: it is kept for history only. A second call changes nothing.
   *
   * @throws SuzumioError `profile-unknown`, `idempotency-mismatch`
   */
  async retire(name: string, key?: IdempotencyKey): Promise<ProfileView> {
    return this.db.writeOnce(key, (tx) => {
      const { id } = this.get(name);
      tx.run(
        'UPDATE profiles SET retired_at_ms = :nowMs, updated_at_ms = :nowMs WHERE id = :id AND retired_at_ms IS NULL',
        { id, nowMs: tx.nowMs },
      );
      return this.get(id);
    });
  }

  /** The version in which each field was last changed. */
  #writtenIn(id: string): Record<string, number> {
    return JSON.parse(this.#row(id)?.field_versions_json ?? '{}') as Record<string, number>;
  }

  #row(name: string): ProfileRow | undefined {
    // No nickname looks like an id.
    return this.db.reader.get<ProfileRow>('SELECT * FROM profiles WHERE nickname = :name OR id = :name', { name });
  }

  #assertTeam(team: string | null): void {
    if (team !== null && !this.db.reader.get('SELECT 1 FROM teams WHERE name = :team', { team }))
      unknownTeam(this.db.reader, team);
  }

  #unknown(name: string): never {
    const shown = name.slice(0, 80);
    throw new SuzumioError('profile-unknown', `There is no profile "${shown}"${hintFrom(name, this.nicknames())}`, {
      profile: shown,
    });
  }
}

/** @throws SuzumioError `profile-retired` */
export function refuseRetired({ nickname, retiredAt }: Pick<ProfileSummary, 'nickname' | 'retiredAt'>): void {
  if (retiredAt === null) return;
  throw new SuzumioError('profile-retired', `${nickname} is retired, and kept for history only.`, {
    profile: nickname,
  });
}

function columnsOf({ role, team, persona, model, skills }: ProfileFields) {
  return { role, team, persona, model, skills: JSON.stringify(skills) };
}

function viewOf(row: ProfileRow): ProfileView {
  return { ...summaryOf(row), persona: row.persona, skills: JSON.parse(row.skills_json) as Skill[] };
}

function summaryOf(row: ProfileRow): ProfileSummary {
  return {
    id: row.id,
    nickname: row.nickname,
    role: row.role,
    team: row.team,
    model: row.model,
    skills: (JSON.parse(row.skills_json) as Skill[]).map(({ name }) => name),
    createdAt: iso(row.created_at_ms),
    updatedAt: iso(row.updated_at_ms),
    version: row.version,
    editedBy: row.edited_by,
    retiredAt: iso(row.retired_at_ms),
  };
}
