import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HashName } from './run-git.js';
import { type BaseTree, type FileOnDisk, idOfFile } from './stored-forms.js';
import type { Git } from './work-tree.js';

/**
 * What is stored of a person's files otherwise than their Git stores them: where it would rewrite every line of a file that has CR LF in the
 * commit. Their settings and filters count for all others.
 *
 * @returns ids, by path
 */
export async function formsOfPerson(
  git: Git,
  files: readonly FileOnDisk[],
  { base, hash, mirror, scratch }: { base: BaseTree; hash: HashName; mirror: string; scratch: string },
): Promise<Map<string, string>> {
  const forms = new Map<string, string>();
  for (const { path, from } of files) {
    const entry = base.entries.get(path);
    // Path, attribute, value.
    const [, , filter = ''] = (await git(['check-attr', '-z', 'filter', '--', path], { files: mirror })).split('\0');
    if (!entry || !['unspecified', 'unset'].includes(filter)) continue;
    const committed = join(scratch, 'committed');
    await git(['cat-file', 'blob', entry.id], { outputTo: committed });
    const how = { input: { file: committed }, files: mirror };
    const again = await git(['hash-object', '--stdin', '--path', path], how).catch(() => entry.id);
    if (again.trim() === entry.id || !(await readFile(committed)).includes('\r\n')) continue;
    const raw = await git(['hash-object', '-w', '--no-filters', '--stdin'], { input: { file: from } });
    if (raw.trim() === (await idOfFile(from, hash))) forms.set(path, raw.trim());
  }
  return forms;
}
