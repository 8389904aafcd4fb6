/** A rule of a mock script. */
export function* rule(agent: string, from: string | undefined, steps: readonly string[]): Generator<string> {
  yield `      - agent: ${agent}`;
  if (from !== undefined) yield `        when: { from: ${from} }`;
  yield `        steps:`;
  for (const step of steps) yield `          - ${step}`;
}

/** A step that calls a tool. */
export function tool(name: string, input: Readonly<Record<string, string>>): string {
  const fields = Object.entries(input).map(([field, value]) => `${field}: ${quoted(value)}`);
  return `{ tool: ${name}, input: { ${fields.join(', ')} } }`;
}

/** Any text as a quoted scalar of YAML. JSON's escapes are YAML's, too. */
export function quoted(text: string): string {
  return JSON.stringify(literal(text).replace(/^@(?=@*import\()/, '@@'));
}

/** A text in which nothing is replaced. */
export function literal(text: string): string {
  return text.replaceAll('${', () => '$${');
}
