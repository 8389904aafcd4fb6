import { createElement, type ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';

/** An element of a page. The arguments after the attributes are its content. */
export function h(name: string, attributes: Record<string, unknown> | null, ...content: ReactNode[]): ReactNode {
  return createElement(name, attributes, ...content);
}

export function code(text: string): ReactNode {
  return h('code', null, text);
}

/** A sentence in which backquotes mark code. */
export function prose(sentence: string): ReactNode[] {
  return sentence
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 0 ? part : createElement('code', { key: index }, part)));
}

/** Things with something between them. */
export function joined(parts: readonly ReactNode[], between: string): ReactNode[] {
  return parts.flatMap((part, index) => (index === 0 ? [part] : [between, part]));
}

/** A table that scrolls by itself where it is too wide. */
export function table(heads: readonly string[], rows: readonly (readonly ReactNode[])[]): ReactNode {
  return h(
    'div',
    { className: 'docs-scroll', tabIndex: 0, role: 'group', 'aria-label': 'Table' },
    h(
      'table',
      null,
      h('thead', null, h('tr', null, ...heads.map((head) => h('th', { scope: 'col' }, head)))),
      h('tbody', null, ...rows.map((cells) => h('tr', null, ...cells.map((cell) => h('td', null, cell))))),
    ),
  );
}

export function pre(text: string): ReactNode {
  return h('pre', { tabIndex: 0 }, code(text));
}

/** HTML of what stands one after the other. */
export function markup(...content: ReactNode[]): string {
  return renderToStaticMarkup(h('div', null, ...content)).slice('<div>'.length, -'</div>'.length);
}
