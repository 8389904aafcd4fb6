import * as z from 'zod';
import { sha256 } from './ids.js';
import { sized } from './sized.js';

// What a model may be shown. Providers differ: these are bounds that all of the usual ones accept.

/** The largest image: 5 MB as base64. */
export const maxImageBytes = 3_750_000;
/** The longest side of an image, in pixels. */
export const maxImageSide = 8_000;
/** How many images one question may show, and how many bytes all of them may have. */
export const maxImages = 20;
export const maxImagesBytes = 10_000_000;

const imageMediaTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageMediaType = (typeof imageMediaTypes)[number];

/** What the beginning of an image says of it. Sides are in pixels. */
export interface ImageShape {
  readonly mediaType: ImageMediaType;
  readonly width: number;
  readonly height: number;
}

/** An image that a call has shown: its content, stored under its hash, and what it is. */
export const shownImage = z.strictObject({
  sha256,
  mediaType: z.enum(imageMediaTypes),
  width: z.int().positive(),
  height: z.int().positive(),
  sizeBytes: z.int().positive(),
});
export type ShownImage = z.infer<typeof shownImage>;

/** The address of an image in a question to a model: the place of its content at the door. */
export function imageUrl(hash: string): string {
  return `/content/${hash}`;
}

/** The content that such an address names; undefined for any other. */
export function contentAt(url: string): string | undefined {
  return /^\/content\/([0-9a-f]{64})$/.exec(url)?.[1];
}

/** An image as it is told of where it is not shown: `[image png 640x480, 12 kB]`. */
export function imageText({ mediaType, width, height, sizeBytes }: Omit<ShownImage, 'sha256'>): string {
  return `[image ${mediaType.slice('image/'.length)} ${width}x${height}, ${sized(sizeBytes)}]`;
}

/**
 * The most tokens that an image takes, by the rules of most providers: they scale down what is larger, and count small
 * tiles.
 */
export function imageTokens({ width, height }: Pick<ImageShape, 'width' | 'height'>): number {
  return Math.min(16_384, Math.max(300, Math.ceil((width * height) / 400)));
}

/** What a model is told that cannot see an image which it has asked for. */
export function unseenText(name: string, image: Omit<ShownImage, 'sha256'>): string {
  return (
    `${JSON.stringify(name)} is an ${imageText(image).slice(1, -1)}, and your model sees no images. Ask whoever made it what it ` +
    'shows, or leave it to somebody who sees.'
  );
}
