import { randomUUID } from 'node:crypto';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { seesImages } from '@suzumio/core/budgets/known-vision';
import type { SinglePreset } from '@suzumio/core/budgets/presets';
import { contentAt, imageText, type ShownImage } from '@suzumio/protocol/images';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { imagesOf } from '@suzumio/store/content/call-images';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { requireFew } from '../bodies/asked-images.js';
import type { Question } from '../bodies/question.js';

type Part = Exclude<ChatMessage['content'], string | null | undefined>[number];
type ImagePart = Extract<Part, { type: 'image_url' }>;

/**
 * The images that a question refers to. They are in no message: each is read from the project's files when its place in
 * the request has come.
 */
export class ShownImages {
  /** Stands for them in a request; nobody else can write it. */
  readonly #mark = randomUUID();

  private constructor(
    private readonly asked: Question['images'],
    private readonly images: ReadonlyMap<string, ShownImage>,
    private readonly content: ContentStore,
  ) {}

  /**
   * Finds them among those that the calls of a turn have shown.
   *
   * @throws SuzumioError `content-missing` for any other; `invalid-request` for too many
   */
  static of(reader: SqlReader, turn: string, asked: Question['images'], content: ContentStore): ShownImages {
    const { referred, inline } = asked;
    const shown = referred.length === 0 ? new Map<string, ShownImage>() : imagesOf(reader, turn);
    const missing = referred.find((hash) => !shown.has(hash));
    if (missing !== undefined) {
      throw new SuzumioError(
        'content-missing',
        `No call of this turn has shown the image ${missing}: read it with artifacts.read or file.read first.`,
      );
    }
    const bytes = referred.reduce((sum, hash) => sum + (shown.get(hash)?.sizeBytes ?? 0), 0);
    requireFew(referred.length + inline.length, bytes);
    return new ShownImages(asked, shown, content);
  }

  /** The sizes of all images that the question shows, as often as it does. */
  get sizes(): readonly Pick<ShownImage, 'width' | 'height'>[] {
    return [...this.asked.inline, ...this.asked.referred.map((hash) => this.#imageAt(hash))];
  }

  /** The messages for one model: what it does not see is told in words. */
  told<Message extends ChatMessage>(messages: readonly Message[], settings: SinglePreset): Message[] {
    return messages.map((message) => {
      if (!Array.isArray(message.content) || message.content.every(({ type }) => type === 'text')) return message;
      const parts = message.content.map((part) => (part.type === 'text' ? part : this.#toldImage(part, settings)));
      const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []));
      // Servers of models that see nothing may know no parts.
      return { ...message, content: texts.length === parts.length ? texts.join('\n') : parts };
    });
  }

  /** A request as it is sent, if it has any of them. */
  body(request: object): RequestBody | undefined {
    if (this.images.size === 0) return undefined;
    const pieces = JSON.stringify(request).split(new RegExp(`${this.#mark}/([0-9a-f]{64})`));
    // What was captured stands between what surrounds it.
    return new RequestBody(
      pieces.map((piece, index) => (index % 2 === 0 ? Buffer.from(piece) : this.#imageAt(piece))),
      this.content,
    );
  }

  #toldImage(part: ImagePart, settings: SinglePreset): Part {
    const hash = contentAt(part.image_url.url);
    const image = hash === undefined ? undefined : this.#imageAt(hash);
    if (!image) return settings.vision === false ? unseen('[image]') : part;
    if (!seesImages(settings)) return unseen(imageText(image));
    const url = `data:${image.mediaType};base64,${this.#mark}/${image.sha256}`;
    return { ...part, image_url: { ...part.image_url, url } };
  }

  #imageAt(hash: string): ShownImage {
    const image = this.images.get(hash);
    if (!image) throw new Error(`the question does not show ${hash}`);
    return image;
  }
}

function unseen(image: string): Part {
  return { type: 'text', text: `${image.slice(0, -1)}: your model sees no images]` };
}

/** The bytes of a request, without holding its images. */
export class RequestBody {
  constructor(
    private readonly pieces: readonly (Buffer | ShownImage)[],
    private readonly content: ContentStore,
  ) {}

  get length(): number {
    return this.pieces.reduce(
      (sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : 4 * Math.ceil(piece.sizeBytes / 3)),
      0,
    );
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (const piece of this.pieces) yield Buffer.isBuffer(piece) ? piece : await this.#base64(piece);
  }

  /** @throws SuzumioError `content-missing` where it was redacted meanwhile */
  async #base64({ sha256, sizeBytes }: ShownImage): Promise<Buffer> {
    const bytes = await this.content.readStart(sha256, sizeBytes).catch((error: unknown) => {
      throw new SuzumioError('content-missing', `The image ${sha256} is gone.`, {}, { cause: error });
    });
    return Buffer.from(bytes.toString('base64'));
  }
}
