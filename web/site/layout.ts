import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { h } from './element.js';
import { type Rendered, rootFrom, type Section, type Source } from './page.js';

/** The longest table of contents that has headings below those of the second level. */
const mostInContents = 30;

/** A whole page of the site. */
export function pageHtml(
  template: string,
  page: Source,
  { html, sections }: Rendered,
  pages: readonly Source[],
): string {
  const root = rootFrom(page.path);
  const body = renderToStaticMarkup(frame(page, html, sections, pages, root));
  return template
    .replaceAll(/(href|src)="\.\//g, (_whole, name: string) => `${name}="${root}`)
    .replace(/<title>.*?<\/title>/, () => `<title>${escaped(page.title)} · Suzumio</title>`)
    .replace('<body></body>', () => `<body>${body}</body>`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function frame(
  page: Source,
  html: string,
  sections: readonly Section[],
  pages: readonly Source[],
  root: string,
): ReactNode {
  return h(
    'div',
    { className: 'docs' },
    h('a', { className: 'skip', href: '#text' }, 'Skip to the text'),
    rail(page, pages, root),
    h(
      'main',
      { className: 'docs-main', id: 'text', tabIndex: -1 },
      h('article', { className: 'docs-text', dangerouslySetInnerHTML: { __html: html } }),
      neighbours(page, pages, root),
    ),
    contents(sections),
  );
}

function rail(page: Source, pages: readonly Source[], root: string): ReactNode {
  return h(
    'header',
    { className: 'docs-rail' },
    h('a', { className: 'brand', href: root }, brand(), 'Suzumio'),
    h(
      'search',
      { className: 'docs-search' },
      h(
        'form',
        { action: '#' },
        h('input', {
          className: 'input',
          type: 'search',
          name: 'q',
          'aria-label': 'Search the docs',
          placeholder: 'Search the docs',
          autoComplete: 'off',
          spellCheck: false,
          maxLength: 200,
        }),
        h('kbd', { 'aria-hidden': true }, '/'),
      ),
      h('div', { className: 'docs-found', hidden: true }),
    ),
    h(
      'details',
      { className: 'docs-menu' },
      h('summary', null, 'Pages'),
      h(
        'nav',
        { 'aria-label': 'Docs' },
        ...groupsOf(pages).flatMap(([group, listed]) => groupPart(group, listed, page, pages, root)),
      ),
    ),
  );
}

function groupsOf(pages: readonly Source[]): [string, Source[]][] {
  const listed = Map.groupBy(
    pages.filter(({ group }) => group !== undefined),
    ({ group }) => group ?? '',
  );
  return [...listed];
}

function groupPart(
  group: string,
  listed: readonly Source[],
  page: Source,
  pages: readonly Source[],
  root: string,
): ReactNode[] {
  const links = listed.map((source) => {
    const isOpen = source.path === page.path || source.path === page.below;
    // Decisions are many, and their own page lists them.
    const inner = isOpen && source.path !== 'docs/decisions' ? pages.filter(({ below }) => below === source.path) : [];
    return h(
      'li',
      null,
      place(source, page, root),
      inner.length === 0 ? null : h('ul', null, ...inner.map((one) => h('li', null, place(one, page, root)))),
    );
  });
  return [h('h2', { className: 'rail-title' }, group), h('ul', null, ...links)];
}

function place(source: Source, page: Source, root: string): ReactNode {
  const current = source.path === page.path ? 'page' : undefined;
  return h('a', { className: 'rail-link', href: `${root}${source.path}`, 'aria-current': current }, source.title);
}

/** The pages before and after one: those of the list, or those below the same page. */
function neighbours(page: Source, pages: readonly Source[], root: string): ReactNode {
  const inOrder = pages.filter(({ group, below }) =>
    page.group === undefined ? below === page.below : group !== undefined,
  );
  const index = inOrder.findIndex(({ path }) => path === page.path);
  if (index < 0) return null;
  const up = pages.find(({ path }) => path === page.below);
  const before = inOrder[index - 1] ?? up;
  const after = inOrder[index + 1];
  const link = (to: Source | undefined, rel: string, word: string) =>
    to === undefined
      ? h('span', null)
      : h(
          'a',
          { href: `${root}${to.path}`, rel },
          h('span', { className: 'quiet' }, word),
          h('span', { className: 'strong' }, to.title),
        );
  return h(
    'nav',
    { className: 'docs-neighbours', 'aria-label': 'Before and after' },
    link(before, 'prev', 'Before'),
    link(after, 'next', 'Next'),
  );
}

function contents(sections: readonly Section[]): ReactNode {
  const all = sections.filter(({ level }) => level === 2 || level === 3);
  const shown = all.length > mostInContents ? all.filter(({ level }) => level === 2) : all;
  if (shown.length < 2) return h('div', { className: 'docs-contents' });
  return h(
    'nav',
    { className: 'docs-contents', 'aria-label': 'On this page' },
    h('h2', { className: 'rail-title' }, 'On this page'),
    h(
      'ul',
      null,
      ...shown.map(({ anchor, title, level }) =>
        h('li', { className: `docs-level-${level}` }, h('a', { href: `#${anchor}` }, title)),
      ),
    ),
  );
}

function brand(): ReactNode {
  return h(
    'svg',
    { viewBox: '0 0 32 32', width: 20, height: 20, 'aria-hidden': true },
    h('rect', { width: 32, height: 32, rx: 8, className: 'brand-ground' }),
    h('path', { d: 'M8 13.5c2.7-3 5.3-3 8 0s5.3 3 8 0M8 20c2.7-3 5.3-3 8 0s5.3 3 8 0', className: 'brand-lines' }),
  );
}
