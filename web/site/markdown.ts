import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { anchors, type Rendered, type Section } from './page.js';

/** A node of the tree of a page, as far as it is touched here. */
interface Node {
  type: string;
  tagName?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
  value?: string;
}

/** Where a link or picture leads from a page; undefined where the site has no such thing. */
export type Resolve = (address: string) => string | undefined;

/** Markdown of this repository as HTML: headings have anchors, links lead to pages of the site. */
export function renderMarkdown(markdown: string, resolve: Resolve): Rendered {
  const sections: Section[] = [];
  const tree = () => (root: Node) => {
    prepare(root, resolve);
    collect(root, sections);
  };
  const html = renderToStaticMarkup(
    createElement(ReactMarkdown, { remarkPlugins: [remarkGfm], rehypePlugins: [tree], children: markdown }),
  );
  return { html, sections };
}

function collect(root: Node, sections: Section[]): void {
  const anchorOf = anchors();
  let current: Section | undefined;
  for (const node of root.children ?? []) {
    const level = Number(/^h([1-6])$/.exec(node.tagName ?? '')?.[1] ?? 0);
    if (level === 0) {
      if (current) current.text = `${current.text} ${textOf(node)}`.trim();
      continue;
    }
    const title = textOf(node);
    const anchor = anchorOf(title);
    current = { anchor, title, level, text: '' };
    sections.push(current);
    node.properties = { ...node.properties, id: anchor };
    if (level > 1) node.children = [...(node.children ?? []), anchorLink(anchor, title)];
  }
}

function anchorLink(anchor: string, title: string): Node {
  return element('a', { className: ['docs-anchor'], href: `#${anchor}`, ariaLabel: `Link to “${title}”` }, [
    { type: 'text', value: '#' },
  ]);
}

function prepare(node: Node, resolve: Resolve): void {
  for (const child of node.children ?? []) prepare(child, resolve);
  if (node.children) node.children = node.children.map((child) => prepared(child, resolve));
}

function prepared(node: Node, resolve: Resolve): Node {
  const { properties = {} } = node;
  if (node.tagName === 'a') return link(node, wordIn(properties, 'href'), resolve);
  if (node.tagName === 'img') {
    const source = wordIn(properties, 'src');
    return element('img', { ...properties, src: resolve(source) ?? fail(source), loading: 'lazy' }, []);
  }
  // A keyboard scrolls only what it can reach.
  if (node.tagName === 'pre') return { ...node, properties: { ...properties, tabIndex: 0 } };
  if (node.tagName === 'table') {
    return element('div', { className: ['docs-scroll'], tabIndex: 0, role: 'group', ariaLabel: 'Table' }, [node]);
  }
  if (node.tagName === 'td' || node.tagName === 'th') {
    // It would be written as a style of the element, which the policy of the site forbids.
    const { align, ...others } = properties;
    return { ...node, properties: align === 'right' ? { ...others, className: ['docs-number'] } : others };
  }
  return node;
}

function wordIn(properties: Record<string, unknown>, name: string): string {
  const value = properties[name];
  return typeof value === 'string' ? value : '';
}

/** What is a file of the repository alone is named, and not linked. */
function link(node: Node, address: string, resolve: Resolve): Node {
  const children = node.children ?? [];
  if (/^(https?:|mailto:)/.test(address)) return element('a', { href: address, rel: 'noopener noreferrer' }, children);
  const target = resolve(address);
  if (target !== undefined) return element('a', { href: target }, children);
  return element('span', { className: ['docs-file'], title: `${address}, in the repository` }, children);
}

function element(tagName: string, properties: Record<string, unknown>, children: Node[]): Node {
  return { type: 'element', tagName, properties, children };
}

/** The words of a node; cells and lines stay apart. */
function textOf({ value, tagName = '', children = [] }: Node): string {
  if (value !== undefined) return value.replaceAll(/\s+/g, ' ');
  const inner = children.map(textOf).join('');
  return /^(td|th|li|p|pre|tr|br|div)$/.test(tagName) ? `${inner} ` : inner;
}

function fail(address: string): never {
  throw new Error(`There is no picture ${address}.`);
}
