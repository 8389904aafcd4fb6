import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { browserPlace } from './browser-place.js';
import { isForDocs, serveDocs } from './docs.js';

/** The addresses of the page; what stands behind them is read by the page itself. */
const addresses = /^\/(?:(?:sign-in|inbox|projects|search|new|p|cost|system|tokens|profiles|teams)(?:\/.*)?)?$/;

/** What a page of this server may load and do: files of its own, its API, and nothing else. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types suzumio-worker',
].join('; ');

const pageHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
};

/** The built page with its docs: beside a bundled service, else in its own package; undefined where it is not built. */
export function builtPage(): string | undefined {
  return ['../web', '../../../web/dist']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((directory) => existsSync(join(directory, 'docs/404.html')) && existsSync(join(directory, 'index.html')));
}

/**
 * Serves the page and its files, which anybody may read: what it shows, it asks the API for. Its files have names that
 * change with their content. The page itself is told the path that a proxy serves it below.
 *
 * @param directory the built page. @default the one of this installation
 */
export function servePage(publicUrl: string | undefined, directory = builtPage()): RequestHandler[] {
  if (directory === undefined) return [refuseUnbuilt];
  const html = readFileSync(join(directory, 'index.html'), 'utf8');
  const files = express.static(directory, {
    index: false,
    redirect: false,
    cacheControl: false,
    setHeaders(response, path) {
      if (/[\\/]assets[\\/]/.test(path)) response.set('cache-control', 'public, max-age=31536000, immutable');
    },
  });
  return [
    (request, response, next) => {
      if (!isForPage(request.method, request.path)) {
        next();
        return;
      }
      const path = browserPlace(request.headers, publicUrl)?.path ?? '';
      response.set(pageHeaders).type('html').send(below(path, html));
    },
    ...serveDocs(directory, pageHeaders),
    files,
    (request, response, next) => {
      // A browser gets the page, which has a 404 of its own; a client that prefers JSON, or accepts anything, gets JSON.
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (!isRead || request.accepts(['json', 'html']) !== 'html') {
        next();
        return;
      }
      const path = browserPlace(request.headers, publicUrl)?.path ?? '';
      response.status(404).set(pageHeaders).vary('accept').type('html').send(below(path, html));
    },
  ];
}

const refuseUnbuilt: RequestHandler = ({ method, path }, _response, next) => {
  if (!isForPage(method, path) && !isForDocs(method, path)) {
    next();
    return;
  }
  throw new SuzumioError('not-found', 'The page is not built: npm run build makes it, in the web directory.');
};

function isForPage(method: string, path: string): boolean {
  return (method === 'GET' || method === 'HEAD') && addresses.test(path);
}

/** The page with addresses that begin with a path. */
function below(path: string, html: string): string {
  return html
    .replaceAll(/(href|src)="\.\//g, `$1="${path}/`)
    .replace('name="suzumio-path" content=""', `name="suzumio-path" content="${path}"`);
}
