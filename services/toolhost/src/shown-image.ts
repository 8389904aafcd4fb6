import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxImageBytes, type ShownImage } from '@suzumio/protocol/images';
import { imageMediaType, notShownText, readImage, tooManyBytes } from '@suzumio/protocol/read-image';
import type { ContentStore } from '@suzumio/store/content/content-store';

/** So many bytes tell whether it is an image. */
const beginningBytes = 32;

/**
 * Reads some content as an image that is shown to a model. What it is, its bytes say.
 *
 * @returns undefined for what is no image
 * @throws SuzumioError `image-too-large`, `image-broken`
 */
export async function readShownImage(
  content: ContentStore,
  { sha256, sizeBytes }: Pick<ShownImage, 'sha256' | 'sizeBytes'>,
  name: string,
): Promise<ShownImage | undefined> {
  const mediaType = imageMediaType(await content.readStart(sha256, beginningBytes));
  if (mediaType === undefined) return undefined;
  const isTooLarge = sizeBytes > maxImageBytes;
  const shape = isTooLarge ? tooManyBytes(mediaType, sizeBytes) : readImage(await content.readStart(sha256, sizeBytes));
  if (shape === undefined) return undefined;
  if ('why' in shape) throw new SuzumioError(shape.code, notShownText(name, shape));
  return { sha256, ...shape, sizeBytes };
}
