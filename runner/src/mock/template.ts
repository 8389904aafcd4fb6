import type { RunnerTurnInput } from '@suzumio/protocol/runner';

/** What placeholders may name. `steps` grows as the turn goes on; a step without output has none. */
export interface TemplateScope {
  readonly project: string;
  readonly agent: { readonly id: string; readonly base: string; readonly role: string; readonly displayName: string };
  readonly turn: { readonly id: string; readonly number: number; readonly attempt: number | string };
  readonly mail: readonly Readonly<Record<string, unknown>>[];
  readonly steps: readonly { readonly output?: unknown }[];
}

const placeholder = /\{\{([^{}]*)\}\}/g;

/** A placeholder names nothing that exists at this point of the turn. */
export class UnknownPlaceholder extends Error {
  override readonly name = 'UnknownPlaceholder';

  constructor(readonly placeholder: string) {
    super(`unknown placeholder {{${placeholder}}}`);
  }
}

/** The scope of a turn, with `steps` as its outputs. */
export function scopeOf(input: RunnerTurnInput, steps: TemplateScope['steps']): TemplateScope {
  const { agent, turn } = input;
  return {
    project: input.project,
    agent: { id: agent.id, base: agent.base ?? agent.id, role: agent.role, displayName: agent.displayName ?? agent.id },
    turn: { id: turn.id, number: turn.number ?? 1, attempt: turn.attempt ?? 1 },
    mail: turn.mail ?? [],
    steps,
  };
}

/** The same scope, in which what differs between attempts stays a placeholder: the journal knows a step by what it is made of. */
export function scopeOfTurn(scope: TemplateScope): TemplateScope {
  return { ...scope, turn: { ...scope.turn, attempt: '{{turn.attempt}}' } };
}

/** `text` with each `{{path}}` replaced; objects and lists are written as JSON. Throws {@link UnknownPlaceholder}. */
export function fillTemplate(text: string, scope: TemplateScope): string {
  return text.replace(placeholder, (_, path: string) => textAt(scope, path.trim()));
}

/** `value` with every string in it filled, keys excepted. */
export function fillValue(value: unknown, scope: TemplateScope): unknown {
  if (typeof value === 'string') return fillTemplate(value, scope);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, scope)]));
}

/**
 * A shell command whose placeholders became variables: what a mail says is never parsed by the shell.
 * Within single quotes a placeholder is therefore not replaced.
 */
export function fillCommand(
  command: string,
  scope: TemplateScope,
): { command: string; variables: Record<string, string> } {
  const variables: Record<string, string> = {};
  const filled = command.replace(placeholder, (_, path: string) => {
    const name = `SUZUMIO_VALUE_${Object.keys(variables).length}`;
    variables[name] = textAt(scope, path.trim());
    return `\${${name}}`;
  });
  return { command: filled, variables };
}

function textAt(scope: TemplateScope, path: string): string {
  let value: unknown = scope;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw new UnknownPlaceholder(path);
    value = (value as Record<string, unknown>)[key];
  }
  if (value === undefined) throw new UnknownPlaceholder(path);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
