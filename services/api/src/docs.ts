import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type RequestHandler } from 'express';

/** An address of the docs: their start, or anything below it. */
const addresses = /^\/docs(?:\/.*)?$/;

/** The names of files of the site are plain; nothing else is looked for on the disk. */
const names = /^(?:\/\w[\w.-]*)+$/;

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
      if (path.endsWith('/')) {
        const [, name = '', slashes = ''] = /([^/]*)(\/+)$/.exec(path) ?? [];
        response.redirect(308, `${'../'.repeat(slashes.length)}${name}`);
        return;
      }
      if (!names.test(path)) {
        next();
        return;
      }
      // A page has the name of its address; other files have their own.
      if (!/\.[a-z]+$/.test(path)) request.url = request.url.replace(path, `${path}.html`);
      files(request, response, next);
    }),
    forDocs(({ originalUrl }, response) => {
      response.status(404).set(headers).type('html').send(completed(missing, originalUrl));
    }),
  ];
}

/** The page that says that there is none, with links from where it stands. */
function completed(html: string, url: string): string {
  const depth = (url.split('?')[0] ?? '').split('/').length - 2;
  return html.replaceAll(/(href|src)="\.\//g, (_whole, name: string) => `${name}="${'../'.repeat(depth) || './'}`);
}
