import { suggest } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** The variables of a persona, filled for each project. */
export const personaVariables = [
  'project.name',
  'project.task',
  'agent.id',
  'agent.nickname',
  'agent.role',
  'team',
] as const;
export type PersonaVariable = (typeof personaVariables)[number];

/** Without optional spaces around the name, which would backtrack for hours on a long text. */
const variable = /\{\{([^{}]*)\}\}/g;

/**
 * Refuses a persona with an unknown variable.
 *
 * @throws SuzumioError `persona-invalid`, with the line and column of each
 */
export function checkPersona(persona: string): void {
  const unknown = [...persona.matchAll(variable)].filter(([, name = '']) => !isVariable(name.trim()));
  if (unknown.length === 0) return;
  const lines = unknown.slice(0, 20).map(({ index, 1: written = '' }) => {
    const name = written.trim();
    const before = persona.slice(0, index).split('\n');
    const meant = suggest(name, personaVariables);
    const hint = meant === undefined ? `there are ${personaVariables.join(', ')}` : `did you mean {{${meant}}}?`;
    const place = `${String(before.length)}:${String((before.at(-1)?.length ?? 0) + 1)}`;
    return `persona:${place}  unknown variable {{${name.slice(0, 60)}}}: ${hint}`;
  });
  throw new SuzumioError('persona-invalid', lines.join('\n'));
}

/**
 * A persona with its variables filled. Inserted text is not substituted again.
 *
 * @param maxLength the longest result
 * @returns undefined where the result would be longer
 */
export function fillPersona(
  persona: string,
  values: Readonly<Record<PersonaVariable, string>>,
  maxLength: number,
): string | undefined {
  const valueOf = (whole: string, name: string) => {
    const known = name.trim();
    return isVariable(known) ? values[known] : whole;
  };
  const length = [...persona.matchAll(variable)].reduce(
    (sum, [whole, name = '']) => sum + valueOf(whole, name).length - whole.length,
    persona.length,
  );
  return length > maxLength ? undefined : persona.replace(variable, valueOf);
}

function isVariable(name: string): name is PersonaVariable {
  return (personaVariables as readonly string[]).includes(name);
}
