/** A path as git writes it: in quotes where it would otherwise be more than one line, or no name. */
export function quotedPath(name: string): string {
  // oxlint-disable-next-line no-control-regex -- finding control characters is what this is for
  const special = /[\u0000-\u001f"\\\u007f]/g;
  if (name.search(special) === -1) return name;
  const escaped = name.replace(special, (character) => escapes[character] ?? octal(character));
  return `"${escaped}"`;
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' };
const octal = (character: string) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`;
