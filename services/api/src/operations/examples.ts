import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Example } from '@suzumio/contract/operations/project-files';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { backendOf, isExternal } from '@suzumio/core/config/sandbox-of';
import { renderConfig } from '@suzumio/core/config/render-config';
import { selfContained } from '@suzumio/core/config/self-contained';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { asSeenBy, hasImage, type WorkerPresence } from '@suzumio/protocol/worker-presence';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import * as z from 'zod';
import type { ApiContext } from '../context.js';
import { objectionsTo, problemsOf } from './admit-posted.js';

const listing = z
  .array(
    z.object({
      file: z.string(),
      title: z.string(),
      description: z.string(),
      mail: z.exactOptional(z.object({ recipient: z.string(), body: z.string() })),
    }),
  )
  .max(30);
type Listed = z.infer<typeof listing>[number];

/** The examples of this installation, with what keeps each from running on this server. */
export async function readExamples(context: ApiContext): Promise<Example[]> {
  const { examples, cell, transport } = context;
  if (examples === undefined) return [];
  const listed = listing.parse(JSON.parse(await readFile(join(examples, 'examples.json'), 'utf8')));
  const fleet = await transport.fleet().catch(() => []);
  const ready = fleet
    .flatMap((worker) => asSeenBy(cell.id, worker) ?? [])
    .filter(({ state = 'ready' }) => state === 'ready');
  const taken = new Set(cell.catalog.projects.all().map(({ id }) => id));
  return listed.map((one) => readExample(context, examples, one, { ready, taken }));
}

interface Here {
  ready: readonly WorkerPresence[];
  taken: ReadonlySet<string>;
}

function readExample(
  context: ApiContext,
  examples: string,
  { file: path, title, description, mail }: Listed,
  { ready, taken }: Here,
): Example {
  const source = readProjectFile(join(examples, path), { env: {}, configRoot: examples });
  const name = freeName(source.config.name, taken);
  const asProcess =
    context.policy.backends.includes('process') && ready.length > 0 && !ready.some(hasBackend('docker'));
  const backend = asProcess ? 'process' : undefined;
  const { config } = source;
  const file = /^extends:/m.test(source.sourceText)
    ? renderConfig({ ...config, name, backend: { ...config.backend, kind: backend ?? config.backend.kind } })
    : selfContained(source.sourceText, {
        directory: join(examples, dirname(path)),
        read: (imported) => readFileSync(imported, 'utf8'),
        name: name === config.name ? undefined : name,
        backend,
      });
  const found: { obstacles: string[]; agents: number } = { obstacles: [], agents: 0 };
  const unreadable = problemsOf(() => {
    const loaded = loadProjectText(file, 'file', context.cell.catalog);
    found.agents = Object.keys(loaded.config.agents).length;
    found.obstacles = [
      ...objectionsTo(context, loaded).map(({ message }) => message),
      ...missingIn(ready, loaded.config),
    ];
  });
  return {
    id: basename(path).replace(/\.ya?ml$/, ''),
    project: name,
    title,
    description,
    mail: mail ?? null,
    file,
    agents: found.agents,
    obstacles: [...unreadable.map(({ message }) => message), ...new Set(found.obstacles)].slice(0, 20),
  };
}

/** A name that no project has: the example's own, or one with a number. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

/** What of a project's needs no ready worker has. Without any, mail waits for one, and nothing is known. */
function missingIn(ready: readonly WorkerPresence[], config: ProjectConfig): string[] {
  if (ready.length === 0) return [];
  const hosted = Object.values(config.agents).filter((agent) => !isExternal(agent));
  const backends = [...new Set(hosted.map((agent) => backendOf(config, agent)))];
  return backends.flatMap((backend) => {
    const able = ready.filter(hasBackend(backend));
    if (able.length === 0) {
      return [backend === 'docker' ? 'No worker here has a container engine.' : 'No worker here runs processes.'];
    }
    const { image } = config.backend;
    const lacks =
      backend === 'docker' && able.every(({ images }) => images !== undefined && hasImage(images, image) === false);
    return lacks ? [`No worker here has the image ${image}.`] : [];
  });
}

function hasBackend(backend: string) {
  return ({ backends }: WorkerPresence) => backends === undefined || backends.includes(backend);
}
