import type { Request, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { sendFile } from '@suzumio/runtime/http/send-file';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { type NamedContent, requireWhole } from './send-content.js';

const types = [
  { names: /\.html?$/i, media: 'text/html; charset=utf-8' },
  { names: /\.svg$/i, media: 'image/svg+xml; charset=utf-8' },
];

/**
 * What keeps a document of an agent in its place. The sandbox allows nothing: no scripts, no forms, no windows, no other
 * page in its stead, and an origin of its own, which has no cookies. Only pages of this server frame it.
 */
const viewHeaders = {
  'content-security-policy': [
    'sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "frame-ancestors 'self'",
  ].join('; '),
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  // A name to look up could carry what the document holds.
  'x-dns-prefetch-control': 'off',
};

/**
 * Sends a document that an agent wrote to a frame, in a sandbox.
 *
 * @throws SuzumioError `invalid-request` where it is of another type, or is to be shown outside a frame; `store-corrupt`
 */
export async function sendView(
  request: Request,
  response: Response,
  content: ContentStore,
  file: NamedContent,
): Promise<void> {
  const type = types.find(({ names }) => names.test(file.name));
  if (!type) {
    throw new SuzumioError(
      'invalid-request',
      `"${file.name.slice(0, 200)}" is shown in no frame: only names that end in .html, .htm or .svg are.`,
    );
  }
  // By itself it would stand below this server's address, as if it were a page of it.
  const place = request.get('sec-fetch-dest');
  if (place !== undefined && place !== 'iframe' && place !== 'empty') {
    throw new SuzumioError('invalid-request', 'It is shown in a frame of the page alone; /content has it to download.');
  }
  await requireWhole(content, file);
  response.set(viewHeaders).type(type.media).set('content-length', String(file.sizeBytes));
  if (request.method === 'HEAD') response.end();
  else await sendFile(response, content.read(file.sha256));
}
