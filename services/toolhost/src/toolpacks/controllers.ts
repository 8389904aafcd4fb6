import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import type { PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import type { ToolpackFiles } from '@suzumio/protocol/toolpacks/files';
import { controllerMemory } from './controller-memory.js';
import { callController, type ControllerCall } from './controller-process.js';

/** How long a call may take. */
const usualLimitMs = 30_000;

/** What a toolpack may keep of a project. */
const mostKept = { files: 1_000, mebibytes: 64 };

/** With so many times as much it is not called any more; up to there it may remove some of it. */
const untilRefused = 2;

/** A call of a toolpack's controller module. */
export interface ControllerWork extends Pick<ControllerCall, 'reply'> {
  /** Read when the call has its place: what waits holds none. */
  readonly files: () => Promise<ToolpackFiles>;
  /** The module, by its path in the toolpack. */
  readonly module: string;
  readonly order: Omit<ControllerCall['order'], 'module'>;
}

/**
 * Has controller modules of toolpacks called. The calls of one toolpack in one project follow one another, since it keeps files
 * there. Projects take turns for the places: one with many calls keeps another waiting for one of them.
 */
export class Controllers {
  readonly #stop = new AbortController();
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #places: ProjectTurns;

  /** @param program the compiled `controller-child.ts` */
  constructor(
    private readonly program: URL,
    readonly limitMs = usualLimitMs,
    private readonly memory = controllerMemory(),
  ) {
    this.#places = new ProjectTurns(memory.atOnce);
    // By this signal, any process of the same user opens Node's debugger, and with it all that this process has.
    process.on('SIGUSR1', ignored);
  }

  /** @throws SuzumioError `toolpack-failed`, `toolpack-timeout`, `toolpack-answer-invalid`, `server-unreachable` */
  async call(work: ControllerWork): Promise<PackAnswer> {
    const { root } = work.order;
    const before = this.#last.get(root);
    const mine = (before ?? Promise.resolve()).then(() =>
      this.#places.take(work.order.project, () => this.#carryOut(work)),
    );
    const over = mine.catch(() => undefined);
    this.#last.set(root, over);
    try {
      return await mine;
    } finally {
      if (this.#last.get(root) === over) this.#last.delete(root);
    }
  }

  /** Ends what runs. */
  async close(): Promise<void> {
    this.#stop.abort(new SuzumioError('server-unreachable', 'This ToolHost is stopping.'));
    await Promise.all(this.#last.values());
    process.off('SIGUSR1', ignored);
  }

  async #carryOut({ files, module, order, reply }: ControllerWork): Promise<PackAnswer> {
    this.#stop.signal.throwIfAborted();
    await mkdir(order.root, { recursive: true, mode: 0o700 });
    await requireWithin(order, untilRefused, 'is not called: its toolpack');
    const directory = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-toolpack-')));
    try {
      for (const [path, bytes] of await files()) {
        await mkdir(dirname(join(directory, path)), { recursive: true, mode: 0o700 });
        await writeFile(join(directory, path), bytes, { mode: 0o400 });
      }
      const answer = await callController({
        program: fileURLToPath(this.program),
        directory,
        order: { ...order, root: await realpath(order.root), module: join(directory, module) },
        limitMs: this.limitMs,
        memory: this.memory,
        reply,
        signal: this.#stop.signal,
      });
      await requireWithin(order, 1, 'has done its work, and its toolpack now');
      return answer;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

function ignored(): void {
  // There is nothing to do.
}

/** @throws SuzumioError `toolpack-failed` where the toolpack keeps more than so many times what it may */
async function requireWithin({ root, tool }: ControllerWork['order'], times: number, what: string): Promise<void> {
  const [files, mebibytes] = [mostKept.files * times, mostKept.mebibytes * times];
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries.slice(0, files)) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(() => ({ size: 0 }))).size;
  }
  if (entries.length <= files && bytes <= mebibytes * 1024 ** 2) return;
  const who = times === 1 ? 'Its controller has to remove some' : 'A person has to remove some';
  const kept = `keeps more than ${String(files)} files or ${String(mebibytes)} MiB in store.paths.root`;
  const message = `${tool} ${what} ${kept}. ${who}.`;
  throw new SuzumioError('toolpack-failed', message, { tool });
}
