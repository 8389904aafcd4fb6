import type { Profile } from '@suzumio/sdk/client';
import { useId } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { api, wordsOf } from '../../api.js';
import { useDraft } from '../../acts/draft.js';
import { isConflict, Meanwhile } from '../../acts/meanwhile.js';
import { useAct } from '../../acts/use-act.js';
import { Failure } from '../../parts/failure.js';
import { Field } from './field.js';
import { changedSince, changeOf, type Fields, fieldsOf, nothing, requestOf, writtenOn } from './profile-fields.js';
import { profilePath } from '../../parts/places.js';
import { identityKeys, useProfile, useTeams } from './use-people.js';

const mostSkills = 32;

/** A new profile, at `?new`; `team=` says in which team. */
export function NewProfile() {
  const [search] = useSearchParams();
  const empty: Fields = {
    nickname: '',
    role: '',
    team: search.get('team')?.slice(0, 63) ?? '',
    model: '',
    persona: '',
    skills: [],
  };
  return <Form place="new profile" given={empty} />;
}

/** A profile that is changed, for projects to come. */
export function EditProfile({ nickname }: { nickname: string }) {
  const profile = useProfile(nickname);
  if (profile.data === undefined) {
    return profile.error ? <Failure error={profile.error} again={() => void profile.refetch()} /> : null;
  }
  return <Form place={`profile ${nickname}`} given={fieldsOf(profile.data)} of={profile.data} />;
}

function Form({ place, given, of }: { place: string; given: Fields; of?: Profile }) {
  const [written, setWritten, forget] = useDraft(place, nothing);
  const [, navigate] = useLocation();
  const teams = useTeams().data ?? [];
  const will = useId();
  const isNew = of === undefined;
  const { changed, base } = written;
  const isLate = of !== undefined && base !== 0 && base !== of.version;
  const draft = { ...given, ...changed };
  const act = useAct(
    ({ part, baseVersion }: { part: Partial<Fields>; baseVersion: number }, options) =>
      isNew
        ? api.createProfile({ body: { nickname: draft.nickname.trim(), ...requestOf({ ...given, ...part }) } }, options)
        : api.updateProfile({ profile: of.nickname, body: { ...changeOf(fieldsOf(of), part), baseVersion } }, options),
    identityKeys,
  );
  /** @param baseVersion the version that was seen */
  const save = (baseVersion: number) => {
    if (act.isPending) return;
    act.mutate({ part: changed, baseVersion }, { onSuccess: ({ profile }) => leave(profile.nickname) });
  };
  const write = (part: Partial<Fields>) => setWritten((before) => writtenOn(given, of?.version ?? 0, before, part));
  const writeSkill = (at: number, part: Partial<Fields['skills'][number]>) =>
    write({ skills: draft.skills.map((skill, index) => (index === at ? { ...skill, ...part } : skill)) });
  const back = isNew ? '/profiles' : profilePath(of.nickname);
  const leave = (nickname: string) => {
    forget();
    navigate(profilePath(nickname));
    document.getElementById('content')?.focus();
  };
  return (
    <div className="page people">
      <form
        className="people-form people-wide"
        aria-label={isNew ? 'New profile' : `Edit ${of.nickname}`}
        onSubmit={(event) => {
          event.preventDefault();
          if (of !== undefined && base === 0) leave(of.nickname);
          else save(base);
        }}
      >
        <h2 className="people-title">{isNew ? 'New profile' : <bdi>{of.nickname}</bdi>}</h2>
        <div className="people-pair">
          {isNew ? (
            <Field name="Nickname" hint={<>With a capital letter. Nobody else ever gets it.</>}>
              {(tied) => (
                <input
                  {...tied}
                  className="input"
                  value={draft.nickname}
                  required
                  autoComplete="off"
                  spellCheck={false}
                  placeholder="Akari"
                  onChange={({ target }) => write({ nickname: target.value })}
                />
              )}
            </Field>
          ) : null}
          <label className="dialog-field">
            <span>Role</span>
            <input
              className="input"
              value={draft.role}
              required
              placeholder="researcher"
              onChange={({ target }) => write({ role: target.value })}
            />
          </label>
          <label className="dialog-field">
            <span>Team</span>
            <select className="input" value={draft.team} onChange={({ target }) => write({ team: target.value })}>
              <option value="">none</option>
              {teams.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
              {draft.team === '' || teams.some(({ name }) => name === draft.team) ? null : (
                <option value={draft.team}>{draft.team}</option>
              )}
            </select>
          </label>
          <Field name="Model" hint={<>A preset, where a project has one of that name.</>}>
            {(tied) => (
              <input
                {...tied}
                className="input"
                value={draft.model}
                placeholder="that of the project"
                onChange={({ target }) => write({ model: target.value })}
              />
            )}
          </Field>
        </div>
        <Field
          name="Persona"
          hint={
            <>
              Its prompt. {'{{project.name}}'}, {'{{project.task}}'}, {'{{agent.id}}'}, {'{{agent.nickname}}'},{' '}
              {'{{agent.role}}'} and {'{{team}}'} stand for what differs from project to project.
            </>
          }
        >
          {(tied) => (
            <textarea
              {...tied}
              className="input people-prose"
              rows={12}
              value={draft.persona}
              required
              onChange={({ target }) => write({ persona: target.value })}
            />
          )}
        </Field>
        <fieldset className="people-skills">
          <legend>Skills</legend>
          <p className="quiet">Texts that stand in each of its prompts.</p>
          {draft.skills.map((skill, at) => (
            // Their names are being written: their places tell them apart.
            <div key={at} className="people-skill">
              <label className="dialog-field">
                <span>Name</span>
                <input
                  className="input"
                  value={skill.name}
                  required
                  placeholder="sources.md"
                  onChange={({ target }) => writeSkill(at, { name: target.value })}
                />
              </label>
              <button
                type="button"
                className="button"
                onClick={() => write({ skills: draft.skills.filter((_other, index) => index !== at) })}
              >
                Remove <span className="visually-hidden">{skill.name}</span>
              </button>
              <label className="dialog-field people-skill-text">
                <span>Text</span>
                <textarea
                  className="input people-prose"
                  rows={5}
                  value={skill.text}
                  required
                  onChange={({ target }) => writeSkill(at, { text: target.value })}
                />
              </label>
            </div>
          ))}
          {draft.skills.length < mostSkills ? (
            <button
              type="button"
              className="button"
              onClick={() => write({ skills: [...draft.skills, { name: '', text: '' }] })}
            >
              Add a skill
            </button>
          ) : null}
        </fieldset>
        {isLate ? (
          <Meanwhile
            what={of.nickname}
            base={base}
            now={{ ...of, at: of.updatedAt }}
            differences={changedSince(written, given)}
            isPending={act.isPending}
            save={() => save(of.version)}
          />
        ) : null}
        {act.error && !(isLate && isConflict(act.error)) ? (
          <p role="alert" className="outcome-refused">
            {wordsOf(act.error)}
          </p>
        ) : null}
        <div className="people-send">
          {isLate ? null : (
            <button type="submit" className="button button-filled" aria-describedby={will}>
              {act.isPending ? 'Saving…' : isNew ? 'Make the profile' : 'Save'}
            </button>
          )}
          <Link href={back} className="button" onClick={forget}>
            {isNew ? 'Discard' : 'Discard changes'}
          </Link>
          <p id={will} className="quiet">
            {isNew
              ? 'Agents of a project file start from it with its nickname.'
              : 'For projects that are made from now on. Those that started from it keep what it was.'}
          </p>
        </div>
      </form>
    </div>
  );
}
