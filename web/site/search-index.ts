import type { SearchIndex } from '../src/docs/find.js';
import type { Rendered, Source } from './page.js';

/** What the search of the site reads. Kept small: a page is named once, and its sections are lists. */
export function searchIndex(pages: readonly { source: Source; rendered: Rendered }[]): SearchIndex {
  return {
    pages: pages.map(({ source: { path, title } }) => [path, title, !/^docs\/(changelog|decisions)/.test(path)]),
    sections: pages.flatMap(({ rendered: { sections } }, page) =>
      sections.map(({ anchor, title, text, level }): SearchIndex['sections'][number] => [
        page,
        level === 1 ? '' : anchor,
        title,
        text,
      ]),
    ),
  };
}
