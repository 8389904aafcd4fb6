/** What stands in the place of a value that nobody is shown. */
export const hidden = '(hidden)';

/** A line of YAML: its indentation and name, and its value. */
export interface YamlLine {
  lead: string;
  text: string;
}

const mostChars = 4_000;

/** A value of JSON as it would stand in a YAML file, to be read: long texts are cut. */
export function yamlLines(value: unknown, indent = ''): YamlLine[] {
  if (Array.isArray(value)) {
    if (value.every((one) => typeof one !== 'object' || one === null)) {
      return value.map((one) => ({ lead: `${indent}- `, text: scalar(one) }));
    }
    return value.flatMap((one) => withDash(yamlLines(one, `${indent}  `), indent));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, field]) => fieldLines(name, field, indent));
  }
  return textLines(value, indent);
}

function fieldLines(name: string, value: unknown, indent: string): YamlLine[] {
  const lead = `${indent}${name}:`;
  if (Array.isArray(value) && value.length === 0) return [{ lead: `${lead} `, text: '[]' }];
  if (typeof value === 'object' && value !== null) {
    if (Object.keys(value).length === 0) return [{ lead: `${lead} `, text: '{}' }];
    return [{ lead, text: '' }, ...yamlLines(value, `${indent}  `)];
  }
  if (isLong(value)) return [{ lead: `${lead} `, text: '|' }, ...textLines(value, `${indent}  `)];
  return [{ lead: `${lead} `, text: scalar(value) }];
}

/** The first of an item's lines has the dash. */
function withDash([first, ...others]: YamlLine[], indent: string): YamlLine[] {
  if (first === undefined) return [{ lead: `${indent}- `, text: '{}' }];
  return [{ ...first, lead: `${indent}- ${first.lead.slice(indent.length + 2)}` }, ...others];
}

function textLines(value: unknown, indent: string): YamlLine[] {
  if (typeof value !== 'string') return [{ lead: indent, text: scalar(value) }];
  const isCut = value.length > mostChars;
  const lines = value
    .slice(0, mostChars)
    .trimEnd()
    .split('\n')
    .map((text) => ({ lead: indent, text }));
  return isCut ? [...lines, { lead: indent, text: `… (${value.length - mostChars} characters more)` }] : lines;
}

function isLong(value: unknown): boolean {
  return typeof value === 'string' && (value.includes('\n') || value.length > 100);
}

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  if (value === hidden) return hidden;
  return /^[\w./@ -]+$/.test(value) && !/^[\d.-]+$|^(true|false|null|yes|no)$/i.test(value)
    ? value
    : JSON.stringify(value).slice(0, mostChars);
}
