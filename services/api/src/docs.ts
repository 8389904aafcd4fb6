import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import express, { type RequestHandler } from 'express';

/** An address of the docs: their start, or anything below it. */
const addresses = /^\/docs(?:\/.*)?$/;

/** The names of files of the site are plain; nothing else is looked for on the disk. */
const names = /^(?:\/\w[\w.-]*)+$/;

/** Directories in the address of a page, and of what leads to none. */
const deepest = 12;

export function isForDocs(method: string, path: string): boolean {
  return (method === 'GET' || method === 'HEAD') && addresses.test(path);
}

/**
 * Serves the site of the docs, which anybody may read: nothing in it is secret. Its pages are files whose links are
 * relative, so it is the same wherever a proxy serves it. A browser keeps them, and asks each time whether they are the
 * newest.
 *
 * @param directory the built page, which the site is part of
 * @param headers those of every page of this server
 */
export function serveDocs(directory: string, headers: Readonly<Record<string, string>>): RequestHandler[] {
  const missing = readFileSync(join(directory, 'docs/404.html'), 'utf8');
  const files = express.static(directory, {
    index: false,
    redirect: false,
    cacheControl: false,
    setHeaders: (response) => response.set({ ...headers, 'cache-control': 'no-cache' }),
  });
  const forDocs =
    (handler: RequestHandler): RequestHandler =>
    (request, response, next) => {
      if (isForDocs(request.method, request.path)) handler(request, response, next);
      else next();
    };
  return [
    forDocs((request, response, next) => {
      const { path } = request;
      if (path.endsWith('/') && names.test(path.slice(0, -1))) {
        response.redirect(308, `../${basename(path)}`);
        return;
      }
      // What is made for other addresses, or is a part of other pages, is no page.
      if (!names.test(path) || /\/404(?:\.html)?$/.test(path)) {
        next();
        return;
      }
      // A page has the name of its address; other files have their own.
      if (!/\.[a-z]+$/.test(path)) request.url = request.url.replace(path, `${path}.html`);
      files(request, response, next);
    }),
    forDocs(({ originalUrl }, response) => {
      const [path = ''] = originalUrl.split('?');
      const depth = path.split('/').length - 2;
      // Deeper than any page, each link would grow with the address.
      if (depth > deepest) response.status(404).set(headers).type('text').send('There is no such page.');
      else response.status(404).set(headers).type('html').send(completed(missing, depth));
    }),
  ];
}

/** The page that says that there is none, with links from where it stands. */
function completed(html: string, depth: number): string {
  return html.replaceAll(/(href|src)="\.\//g, (_whole, name: string) => `${name}="${'../'.repeat(depth) || './'}`);
}
