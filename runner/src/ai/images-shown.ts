import { imageTokens, imageUrl, maxImages, maxImagesBytes, type ShownImage } from '@suzumio/protocol/images';
import type { ChatMessage } from '@suzumio/protocol/model-chat';

/** An image that a call has shown, and what its result says of it. */
export interface ImageOfCall {
  readonly output: string;
  readonly image: ShownImage;
}

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number];

const leftOut: Part = { type: 'text', text: '[no longer shown; read it again to look at it]' };

/**
 * The images in a conversation. Results of calls are texts in the format of Chat Completions, so images come in a message
 * after them. Where there are more than one question may show, the oldest become words, half of them at once: each
 * such change makes what follows new to a provider's cache.
 */
export class ImagesShown {
  #shown: { readonly parts: Part[]; readonly image: ShownImage }[] = [];

  /** The message that shows what the calls of an answer have read. */
  show(images: readonly ImageOfCall[]): ChatMessage {
    const parts: Part[] = [];
    for (const { output, image } of images) {
      parts.push({ type: 'text', text: output }, { type: 'image_url', image_url: { url: imageUrl(image.sha256) } });
      this.#shown.push({ parts, image });
    }
    if (!this.#fit(1)) while (!this.#fit(1 / 2)) this.leaveOldest();
    return { role: 'user', content: parts };
  }

  /** What the images take of a model's context. */
  get tokens(): number {
    return this.#shown.reduce((sum, { image }) => sum + imageTokens(image), 0);
  }

  /** Puts words in the place of the oldest image. Returns whether there was one. */
  leaveOldest(): boolean {
    const oldest = this.#shown.shift();
    if (!oldest) return false;
    const { parts, image } = oldest;
    const url = imageUrl(image.sha256);
    const place = parts.findIndex((part) => part.type === 'image_url' && part.image_url.url === url);
    parts[place] = leftOut;
    return true;
  }

  #fit(share: number): boolean {
    const bytes = this.#shown.reduce((sum, { image }) => sum + image.sizeBytes, 0);
    return this.#shown.length <= maxImages * share && bytes <= maxImagesBytes * share;
  }
}
