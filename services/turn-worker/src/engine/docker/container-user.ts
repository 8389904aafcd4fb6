import type { Owner } from '../../workspace/restore.js';

/** The files of an image that name its users and groups, as latin1: they may be in any encoding. */
export interface UserDatabase {
  passwd: string;
  group: string;
}

/** The user of a container, and the image's files with its name in them. */
export interface ContainerUser extends UserDatabase {
  name: string;
  home: string;
}

const usualName = 'agent';
const [nameField, idField, homeField] = [0, 2, 5];

/**
 * Names a user that an image may not know: programs fail for one without a name (`whoami`, `os.userInfo`, `getpass`,
 * OpenSSH), and Java takes its home from the entry alone. All entries of the image stay.
 *
 * @param home of the container's environment. @default that of the image's entry
 * @param otherwise the home of a user without either
 */
export function containerUser(
  image: UserDatabase,
  { uid, gid }: Owner,
  home: string | undefined,
  otherwise: string,
): ContainerUser {
  // Another home would end the entry.
  const asked = home !== undefined && /^[^:\n]+$/.test(home) ? home : undefined;
  const users = withEntry(image.passwd, uid, (name) =>
    [name, 'x', uid, gid, 'Agent', asked ?? otherwise, '/bin/sh'].join(':'),
  );
  const fields = users.lines[users.index]?.split(':') ?? [];
  const named = { name: fields[nameField] ?? usualName, home: asked ?? fields[homeField] ?? otherwise };
  const entry = fields.length > homeField ? fields.with(homeField, named.home) : fields;
  const groups = withEntry(image.group, gid, (name) => `${name}:x:${String(gid)}:`);
  return { ...named, passwd: textOf(users.lines.with(users.index, entry.join(':'))), group: textOf(groups.lines) };
}

/** The lines of a database, and which of them is an id's: the first one, which every program takes, or a new last one. */
function withEntry(
  text: string,
  id: number,
  entry: (name: string) => string,
): { lines: readonly string[]; index: number } {
  const lines = text.replace(/\n$/, '').split('\n');
  const found = lines.findIndex((line) => line.split(':')[idField] === String(id));
  if (found >= 0) return { lines, index: found };
  const used = new Set(lines.map((line) => line.split(':')[nameField]));
  let name = usualName;
  for (let number = 2; used.has(name); number += 1) name = `${usualName}${String(number)}`;
  const before = text === '' ? [] : lines;
  return { lines: [...before, entry(name)], index: before.length };
}

const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
