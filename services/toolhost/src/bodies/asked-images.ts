import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { contentAt, type ImageShape, maxImages, maxImagesBytes } from '@suzumio/protocol/images';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import { readImage } from '@suzumio/protocol/read-image';
import { sized } from '@suzumio/protocol/sized';

/** The images of a question: those that it holds, and the hashes of those that it refers to. */
export interface AskedImages {
  readonly inline: readonly ImageShape[];
  readonly referred: readonly string[];
  /** How many bytes of the question are inline images, as they are written. */
  readonly inlineChars: number;
}

/**
 * Finds a question's images. What an inline one is, its bytes say, and not its name.
 *
 * @throws SuzumioError `invalid-request` for one that is no image, or is not shown, and for too many
 */
export function askedImages(messages: readonly ChatMessage[]): AskedImages {
  const inline: ImageShape[] = [];
  const referred: string[] = [];
  let [inlineChars, inlineBytes] = [0, 0];
  for (const [place, { content }] of messages.entries()) {
    for (const part of Array.isArray(content) ? content : []) {
      if (part.type !== 'image_url') continue;
      const { url } = part.image_url;
      const hash = contentAt(url);
      if (hash === undefined) {
        const { shape, sizeBytes } = inlineImage(url, place);
        inline.push(shape);
        inlineChars += url.length;
        inlineBytes += sizeBytes;
      } else referred.push(hash);
    }
  }
  requireFew(inline.length + referred.length, inlineBytes);
  return { inline, referred, inlineChars };
}

/** @throws SuzumioError `invalid-request` for more images than a question may show */
export function requireFew(count: number, bytes: number): void {
  if (count <= maxImages && bytes <= maxImagesBytes) return;
  const most = `${String(maxImages)} images with ${sized(maxImagesBytes)}`;
  throw new SuzumioError(
    'invalid-request',
    `A question shows at most ${most}, and this one has ${String(count)} with ${sized(bytes)}: leave out the oldest.`,
  );
}

function inlineImage(url: string, place: number): { shape: ImageShape; sizeBytes: number } {
  const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  const shape = readImage(bytes);
  const refuse = (why: string) =>
    new SuzumioError('invalid-request', `The image in messages[${String(place)}] cannot be shown: ${why}.`);
  if (!shape) throw refuse('it is no PNG, JPEG, GIF or WebP');
  if ('why' in shape) throw refuse(shape.why);
  const named = url.slice('data:'.length, url.indexOf(';')).replace('image/jpg', 'image/jpeg');
  if (named !== shape.mediaType) throw refuse(`its bytes are ${shape.mediaType}, and it is named ${named}`);
  return { shape, sizeBytes: bytes.length };
}
