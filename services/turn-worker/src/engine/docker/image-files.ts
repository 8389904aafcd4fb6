import type Docker from 'dockerode';
import { posix } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { AttemptFailure } from '../attempt-failure.js';
import type { UserDatabase } from './container-user.js';
import { withoutNetwork } from './container-options.js';
import { engineFailure, statusOf } from './engine-errors.js';
import { probeLabels } from './labels.js';

/** Far above what people list there. */
const maxArchiveBytes = 1024 * 1024;
const maxLinks = 8;

/** What is read of images, by their ids: the content of an id never changes. */
export class ImageFiles {
  readonly #users = new Map<string, Promise<UserDatabase>>();

  constructor(private readonly options: { docker: Docker; worker: string }) {}

  /** The users and groups of an image; empty where it names none. */
  async users(image: string): Promise<UserDatabase> {
    const known = this.#users.get(image) ?? this.#readUsers(image);
    this.#users.set(image, known);
    return known.catch((error: unknown) => {
      this.#users.delete(image);
      throw engineFailure(error, 'read the users of the image');
    });
  }

  /** Reads them from a container that is never started: an engine gives files of containers alone. */
  async #readUsers(image: string): Promise<UserDatabase> {
    const { docker, worker } = this.options;
    const container = await docker.createContainer({
      Image: image,
      Entrypoint: ['none'],
      Labels: probeLabels(worker),
      ...withoutNetwork,
      HostConfig: { NetworkMode: 'none' },
    });
    try {
      const [passwd, group] = [await readFile(container, '/etc/passwd'), await readFile(container, '/etc/group')];
      return { passwd, group };
    } finally {
      await container.remove({ force: true, v: true }).catch(() => undefined);
    }
  }
}

/** A file of a container; empty where there is none. Some images have links to it, as those that Nix makes. */
async function readFile(container: Docker.Container, path: string): Promise<string> {
  let at = path;
  for (let links = 0; links <= maxLinks; links += 1) {
    const stream = await container.getArchive({ path: at }).catch((error: unknown) => {
      if (statusOf(error) === 404) return undefined;
      throw error;
    });
    if (!stream) return '';
    const entry = tarEntry(await buffer(bounded(stream, path)));
    if (entry.link === undefined) return entry.content;
    at = posix.resolve(posix.dirname(at), entry.link);
  }
  return '';
}

async function* bounded(stream: NodeJS.ReadableStream, path: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > maxArchiveBytes) {
      throw new AttemptFailure(
        'container-start-failed',
        `${path} of the image is too long: it may have less than ${String(maxArchiveBytes)} bytes.`,
      );
    }
    yield part;
  }
}

const blockBytes = 512;

/** The first file or link of an archive, after the headers that only describe it. */
export function tarEntry(tar: Buffer): { content: string; link?: string } {
  const text = (from: number, length: number) => tar.toString('latin1', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; at + blockBytes <= tar.length;) {
    const size = Number.parseInt(text(at + 124, 12), 8) || 0;
    const type = text(at + 156, 1);
    const begins = at + blockBytes;
    if (type === '' || type === '0') return { content: tar.toString('latin1', begins, begins + size) };
    if (type === '2') return { content: '', link: text(at + 157, 100) };
    if (type !== 'x' && type !== 'g') break;
    at = begins + Math.ceil(size / blockBytes) * blockBytes;
  }
  return { content: '' };
}
