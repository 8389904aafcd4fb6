import type { ApiClient } from '../reach/api-client.js';
import { size } from '../render/format.js';
import type { ReportFile } from './report-page.js';

/** What one page holds at most: more of it, and browsers are slow with it. */
const mostFiles = 100;
const mostFileBytes = 8 * 1024 * 1024;
const mostBytes = 48 * 1024 * 1024;
/** How many published things are looked at, the newest first. */
const mostArtifacts = 2_000;

type Artifacts = Awaited<ReturnType<ApiClient['listArtifacts']>>['items'];

/** The newest version of each published file that a report names, with its content as far as a page holds it. */
export async function filesOf(
  api: Pick<ApiClient, 'listArtifacts' | 'getArtifactContent'>,
  project: string,
  text: string,
): Promise<ReportFile[]> {
  const named = new Map<string, Artifacts[number]>();
  for (const artifact of await newest(api, project)) {
    if (!named.has(artifact.name) && isNamed(artifact.name, text)) named.set(artifact.name, artifact);
  }
  const files: ReportFile[] = [];
  let left = mostBytes;
  for (const artifact of [...named.values()].slice(0, mostFiles)) {
    const { id, name, kind, sizeBytes, redacted } = artifact;
    const get = `suzumio artifacts get ${project} ${id}`;
    const why = redacted
      ? 'Its content was removed.'
      : kind === 'directory'
        ? `A directory: ${get}`
        : sizeBytes > Math.min(mostFileBytes, left)
          ? `Too large for this page, which holds ${size(mostFileBytes)} of a file and ${size(mostBytes)} of all: ${get}`
          : undefined;
    if (why !== undefined) files.push({ name, sizeBytes, left: why });
    else {
      files.push({ name, sizeBytes, content: await bytesOf(await api.getArtifactContent({ project, artifact: id })) });
      left -= sizeBytes;
    }
  }
  return files;
}

async function newest(api: Pick<ApiClient, 'listArtifacts'>, project: string): Promise<Artifacts> {
  const all: Artifacts = [];
  let before: number | undefined;
  do {
    const { items, previous } = await api.listArtifacts({ project, query: { order: 'desc', limit: 500, before } });
    all.push(...items);
    before = previous;
  } while (before !== undefined && all.length < mostArtifacts);
  return all;
}

/** Whether a text names a file: by its whole name, not as a part of another one. */
function isNamed(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const [before = ' ', after = ' '] = [text[at - 1], text[at + name.length]];
    if (!/[\w/-]/.test(before) && !/[\w/-]/.test(after)) return true;
  }
  return false;
}

async function bytesOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}
