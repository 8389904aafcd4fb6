import { visibleLines } from '@suzumio/core/prompt/body';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { size } from '../render/format.js';

/** A file that a report names. */
export interface ReportFile {
  readonly name: string;
  readonly sizeBytes: number;
  /** Its bytes; without them, why the page does not hold them. */
  readonly content?: Buffer;
  readonly left?: string;
}

/** What a page is made of. */
export interface ReportPage {
  readonly project: string;
  readonly version: number;
  readonly text: string;
  readonly files: readonly ReportFile[];
}

const pictures: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};
/** As much of a text is shown; the file itself is whole. */
const mostShownChars = 200_000;

/**
 * A report as a page of HTML that holds the files which it names, and needs nothing else. What agents wrote in it runs nothing and
 * loads nothing: HTML is text, pictures are those of the files, and the page's own policy allows no more.
 */
export function reportPage({ project, version, text, files }: ReportPage): string {
  const title = `${project}: report, version ${version}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<header>${escaped(title)}</header>
<main dir="auto">
${withFiles(micromark(visibleLines(text).join('\n'), { extensions: [gfm()], htmlExtensions: [gfmHtml()] }), files)}
</main>
${files.length === 0 ? '' : `<section aria-label="Files">\n<h2>Files</h2>\n${files.map(fileOf).join('\n')}\n</section>`}
</body>
</html>
`;
}

/** Has pictures and links that name a file lead to it. Other pictures are links, as nothing is loaded. */
function withFiles(html: string, files: readonly ReportFile[]): string {
  const fileAt = (address: string) => files.findIndex(({ name }) => name === decoded(address).replace(/^\.\//, ''));
  return html
    .replaceAll(/<img src="([^"]*)" alt="([^"]*)"[^>]*>/g, (_, src: string, alt: string) => {
      const file = files[fileAt(src)];
      const address = file && pictureOf(file);
      if (address !== undefined) return `<img src="${address}" alt="${alt}">`;
      return /^https?:/.test(src) ? `<a href="${src}" rel="noreferrer">[${alt || 'picture'}]</a>` : `[${alt || src}]`;
    })
    .replaceAll(/<a href="([^"]*)"/g, (whole, href: string) => {
      const at = fileAt(href);
      if (at !== -1) return `<a href="#file-${at}"`;
      if (href.startsWith('#')) return whole;
      return /^(?:https?:|mailto:)/.test(href) ? `<a href="${href}" rel="noreferrer"` : '<a';
    });
}

function fileOf(file: ReportFile, at: number): string {
  const { name, sizeBytes, content, left } = file;
  const head = `<h3>${escaped(name)}</h3> <span class="quiet">${size(sizeBytes)}</span>`;
  if (content === undefined) {
    return `<article id="file-${at}">${head}<p class="quiet">${escaped(left ?? 'It is not in this page.')}</p></article>`;
  }
  const saved = `<a download="${escaped(name.split('/').at(-1) ?? name)}" href="${dataOf('application/octet-stream', content)}">Save</a>`;
  return `<article id="file-${at}">${head} ${saved}${shown(file, content)}</article>`;
}

function shown(file: ReportFile, content: Buffer): string {
  const picture = pictureOf(file);
  if (picture !== undefined) return `<p><img src="${picture}" alt="${escaped(file.name)}"></p>`;
  if (content.subarray(0, 8_000).includes(0)) return '';
  const text = content.toString('utf8');
  const more = text.length > mostShownChars ? '\n…' : '';
  return `<pre tabindex="0">${escaped(visibleLines(text.slice(0, mostShownChars)).join('\n'))}${more}</pre>`;
}

function pictureOf({ name, content }: ReportFile): string | undefined {
  const type = pictures[name.split('.').at(-1)?.toLowerCase() ?? ''];
  return type === undefined || content === undefined ? undefined : dataOf(type, content);
}

const dataOf = (type: string, content: Buffer) => `data:${type};base64,${content.toString('base64')}`;

function decoded(address: string): string {
  try {
    return decodeURIComponent(address.replaceAll('&amp;', '&'));
  } catch {
    return address;
  }
}

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string) =>
  visibleLines(text)
    .join('\n')
    .replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark);

const style = `
:root { color-scheme: light dark; --paper: #fffefb; --ink: #1d1b18; --ink2: #545047; --line: #e5e0d4; --sunk: #f3f0e8; --link: #2b57a5 }
@media (prefers-color-scheme: dark) { :root { --paper: #161512; --ink: #ece8df; --ink2: #b8b2a5; --line: #302d27; --sunk: #211f1b; --link: #92b4f4 } }
body { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 4rem; background: var(--paper); color: var(--ink); font: 16px/1.6 Georgia, serif; overflow-wrap: anywhere }
header, .quiet { color: var(--ink2); font: 14px system-ui, sans-serif }
h1, h2, h3 { line-height: 1.25 } h1 { font-size: 1.8rem } section { margin-top: 3rem; border-top: 1px solid var(--line) }
article { margin: 1.5rem 0 } article h3 { display: inline; font: 600 15px ui-monospace, monospace }
a { color: var(--link) } article > a { font: 14px system-ui, sans-serif }
img { max-width: 100%; height: auto } code, pre { font: 13px/1.5 ui-monospace, monospace }
code { background: var(--sunk); border-radius: 3px; padding: 0 3px } pre { overflow: auto; max-height: 32rem; padding: 12px; background: var(--sunk); border-radius: 6px } pre code { padding: 0 }
table { display: block; overflow: auto; border-collapse: collapse } th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); text-align: left }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--ink2) }
@media print { pre { max-height: none } article > a { display: none } }
`;
