import { posix } from 'node:path';
import { namedIn, pathOf } from './contents.js';
import { type Repository, repositoryAt } from './files.js';
import { pageHtml } from './layout.js';
import { renderMarkdown } from './markdown.js';
import { rootFrom, type Source } from './page.js';
import type { Description } from './reference/description.js';
import { errorPage } from './reference/errors.js';
import { keysPage } from './reference/keys.js';
import { operationPages } from './reference/operations.js';
import { h, markup } from './element.js';
import { searchIndex } from './search-index.js';

/** A Markdown file of the repository that is a page. */
interface MarkdownPage extends Omit<Source, 'render'> {
  file: string;
}

/**
 * The site of all docs, made from a repository: the content of each file by its path below the root of the server.
 *
 * @param template the built page of `docs.html`: what it loads, and an empty body
 * @throws Error if the repository lacks something that a page shows
 */
export function makeSite(directory: string, template: string): Map<string, string | Buffer> {
  const repository = repositoryAt(directory);
  const description = JSON.parse(repository.read('docs/openapi.json')) as Description;
  const files = markdownPages(repository);
  const pathByFile = new Map(files.map(({ file, path }) => [file, path]));
  const assets = new Set([...repository.list('docs/images'), ...repository.list('docs/schemas')]);
  const addressOf = (file: string, root: string) => {
    const path = pathByFile.get(file) ?? pathByFile.get(posix.join(file, 'README.md'));
    if (path !== undefined) return `${root}${path}`;
    // The server answers it, with its own address in it.
    if (file === 'docs/openapi.json') return `${root}openapi.json`;
    return assets.has(file) ? `${root}${file}` : undefined;
  };
  const pages: Source[] = files.map(({ file, ...page }) => ({
    ...page,
    render: ({ root }) =>
      renderMarkdown(repository.read(file), (address) => {
        const [path = '', hash] = address.split('#');
        if (path === '') return address;
        const target = addressOf(posix.join(posix.dirname(file), path), root);
        return target === undefined || hash === undefined ? target : `${target}#${hash}`;
      }),
  }));
  const reference = [
    ...operationPages(description),
    keysPage(repository.read('docs/project-file.md')),
    errorPage(description),
  ];
  const last = pages.findLastIndex(({ group }) => group === 'To program with it');
  const all = [...pages.slice(0, last + 1), ...reference, ...pages.slice(last + 1)];
  const rendered = all.map((source) => ({ source, rendered: source.render({ root: rootFrom(source.path) }) }));
  return new Map<string, string | Buffer>([
    ...rendered.map(({ source, rendered: page }): [string, string] => [
      `${source.path}.html`,
      pageHtml(template, source, page, all),
    ]),
    ['docs/404.html', missingPage(template, all)],
    ['docs/search.json', JSON.stringify(searchIndex(rendered))],
    ...[...assets].map((file): [string, Buffer] => [file, repository.bytes(file)]),
  ]);
}

function markdownPages(repository: Repository): MarkdownPage[] {
  const readme = repository.read('README.md');
  const page = (file: string, title: string, group: string): MarkdownPage => ({
    file,
    title,
    group,
    path: pathOf(file),
  });
  const part = (file: string, below: string): MarkdownPage => ({
    file,
    title: titleOf(repository.read(file)),
    below,
    path: pathOf(file),
  });
  const decisions = repository.list('docs/decisions').filter((file) => /\/\d{4}-/.test(file));
  const examples = ['bug-hunt', 'csv-analyst', 'invoices', 'mended-bug', 'research-team'];
  return [
    page('README.md', 'Start', 'Docs'),
    ...examples.map((name) => part(`examples/${name}/README.md`, 'docs')),
    ...namedIn(readme).map(({ file, title, group }) => page(file, title, group)),
    part('sdk/README.md', 'docs/client'),
    page('CONTRIBUTING.md', 'Contributing', 'To change it'),
    page('docs/decisions/README.md', 'Decisions', 'To change it'),
    ...decisions.map((file) => part(file, 'docs/decisions')),
    page('CHANGELOG.md', 'Changes', 'To change it'),
  ];
}

function titleOf(markdown: string): string {
  return (/^# (.*)$/m.exec(markdown)?.[1] ?? '').replaceAll('`', '');
}

/** What stands at an address that leads to no page. Its links are completed by the server: it knows how deep the address is. */
function missingPage(template: string, pages: readonly Source[]): string {
  const render = () => ({
    html: markup(
      h('h1', null, 'There is no such page'),
      h(
        'p',
        null,
        'It may have another name by now: search for it, or go to ',
        h('a', { href: './docs' }, 'the start'),
        '.',
      ),
    ),
    sections: [],
  });
  const source: Source = { path: '404', title: 'No such page', render };
  return pageHtml(template, source, render(), pages);
}
