import { posix } from 'node:path';

/** A page that the README names. */
export interface Named {
  group: string;
  title: string;
  file: string;
}

/** The list of pages that the README ends with: its groups and order are those of the site. */
export function namedIn(readme: string): Named[] {
  const named: Named[] = [];
  let group = '';
  for (const line of readme.slice(readme.indexOf('\n## More\n')).split('\n')) {
    group = /^(To .*):$/.exec(line)?.[1] ?? group;
    const [, title, file] = /^- \[([^\]]+)\]\((docs\/[\w-]+\.md)\)/.exec(line) ?? [];
    if (title !== undefined && file !== undefined) named.push({ group, title, file });
  }
  return named;
}

/** The address of a Markdown file's page. */
export function pathOf(file: string): string {
  const { dir, name } = posix.parse(file);
  const isOfDirectory = name === 'README' || name === 'index';
  const path = isOfDirectory ? dir : posix.join(dir, name.toLowerCase());
  return path === '' ? 'docs' : path.startsWith('docs/') ? path : `docs/${path}`;
}
