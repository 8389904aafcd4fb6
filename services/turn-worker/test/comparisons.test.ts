import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import {
  type ComparisonInput,
  type ComparisonOutcome,
  maxComparisonBytes,
  type RepositoryDiffJob,
} from '@suzumio/protocol/repository-diff';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import type { Host } from '../src/attempt/host.js';
import { makeTurnDirectories } from '../src/attempt/turn-directory.js';
import { Comparisons, type ComparisonsOptions } from '../src/compare/comparisons.js';
import { workerLimits } from '../src/config.js';
import type { PreparedSandbox, Sandbox, SandboxEnd, StartOptions, TurnEngine } from '../src/engine/turn-engine.js';
import type { Cell, Cells } from '../src/toolhost/cells.js';

const job: RepositoryDiffJob = { cell: 'cell', project: 'tides', epoch: 2, diff: 7 };
const pack = Buffer.from('a pack');
const sha256 = createHash('sha256').update(pack).digest('hex');
const comparison = { from: null, to: '1'.repeat(40), common: false };
const made: ComparisonOutcome = {
  made: {
    base: null,
    head: '1'.repeat(40),
    commits: [],
    ahead: 1,
    behind: 0,
    files: { added: 1, changed: 0, removed: 0 },
    diff: 'diff --git a/x b/x\n',
  },
};

let root: string;
/** What the ToolHost was told. */
let ended: ComparisonOutcome[];
/** What the sandbox does; it ends with this exit code. */
let task: (start: StartOptions, killed: Promise<undefined>) => Promise<Partial<SandboxEnd>>;
let asked: { limits: SandboxLimits; start: StartOptions } | undefined;
let running: number;
let stopping: AbortController;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'suzumio-compare-'));
  await makeTurnDirectories(root);
  [ended, asked, running, stopping] = [[], undefined, 0, new AbortController()];
  task = (start) => {
    writeFileSync(join(start.turnDirectory, 'output.json'), JSON.stringify(made));
    return Promise.resolve({});
  };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const engine = (toolpacks = ['git', 'compare']) =>
  ({
    name: 'test',
    prepare: (limits: SandboxLimits): Promise<PreparedSandbox> =>
      Promise.resolve({
        owner: undefined,
        door: { kind: 'socket' },
        toolpacks,
        announcesWrites: true,
        workspaceSeen: () => '/workspace',
        artifactsSeen: (directories) => directories,
        toolpacksSeen: () => '/suzumio/toolpacks',
        controllerUrl: () => '',
        start: (start) => {
          asked = { limits, start };
          running += 1;
          const killed = Promise.withResolvers<undefined>();
          const end = task(start, killed.promise).then((how) => {
            running -= 1;
            return { exitCode: 0, ...how };
          });
          return Promise.resolve<Sandbox>({
            id: 'sandbox',
            ended: end,
            disturbed: new AbortController().signal,
            unlinkedBytes: () => Promise.resolve(0),
            whileReadable: (work) => work(),
            kill: async () => {
              killed.resolve(undefined);
              await end;
            },
            log: () => Promise.resolve(Buffer.from('what it said\n')),
            release: () => undefined,
          });
        },
      }),
  }) as unknown as TurnEngine;

interface Change {
  toolpacks?: string[];
  claim?: () => Promise<unknown>;
  bytes?: Buffer;
  timeoutMs?: number;
  full?: Error;
}

function comparisons({ toolpacks, claim, bytes = pack, timeoutMs = 60_000, full }: Change = {}): Comparisons {
  const granted = { comparison, packs: [{ sha256, sizeBytes: pack.length }] };
  const client = {
    claim: claim ?? (() => Promise.resolve(granted)),
    pack: () => Promise.resolve(Readable.from([bytes])),
    end: (outcome: ComparisonOutcome) => Promise.resolve(void ended.push(outcome)),
  };
  const cell = { name: 'cell', toolhost: { comparison: () => client } } as unknown as Cell;
  const host = {
    engines: { docker: engine(toolpacks) },
    disk: {
      requireRoom: () => (full ? Promise.reject(full) : Promise.resolve()),
      freeBytes: () => Promise.resolve(1e12),
      add: () => () => undefined,
    },
    paths: { path: root, sockets: join(root, 'd') },
    limits: workerLimits.parse({ sizeCheckMs: 5 }),
    policyOf: () => defaultPolicy,
  } as unknown as Host;
  const options: ComparisonsOptions = {
    cells: {
      get: (name: string) => (name === 'cell' ? cell : undefined),
      ask: (_cell: Cell, request: () => Promise<unknown>) => request(),
    } as unknown as Cells,
    host,
    image: 'suzumio-runner:dev',
    logger: silentLogger(),
    stopping: stopping.signal,
    timeoutMs,
  };
  return new Comparisons(options);
}

async function outcomeOf(change?: Change): Promise<ComparisonOutcome> {
  await comparisons(change).run(job);
  expect(ended).toHaveLength(1);
  expect(['turns', 'd'].map((name) => readdirSync(join(root, name)))).toEqual([[], []]);
  const [outcome] = ended;
  if (!outcome) throw new Error('nothing was handed in');
  return outcome;
}

const refused = (code: string, message: unknown = expect.any(String)) => ({ refused: { code, message } });

describe('a comparison', () => {
  test('gets the packs and what to compare, and nothing else', async () => {
    let input: ComparisonInput | undefined;
    let files: string[] = [];
    task = (start) => {
      input = JSON.parse(readFileSync(join(start.turnDirectory, 'input.json'), 'utf8')) as ComparisonInput;
      files = readdirSync(start.workspace);
      writeFileSync(join(start.turnDirectory, 'output.json'), JSON.stringify(made));
      return Promise.resolve({});
    };
    expect(await outcomeOf()).toEqual(made);
    expect(input).toEqual({
      protocol: expect.any(Number),
      comparison,
      workspace: '/workspace',
      packs: ['pack-1.pack'],
    });
    expect(files).toEqual(['pack-1.pack']);
    expect(asked?.limits).toMatchObject({ network: 'none', mounts: [], readOnlyRoot: true, keep: 'never', cpus: 1 });
    expect(asked?.limits.env).toEqual({ SUZUMIO_TASK: 'compare-commits' });
    expect(asked?.start).toMatchObject({ home: undefined, mounts: [], input: { controllerUrl: '', token: '' } });
  });

  test('that takes too long is ended, and one whose worker stops', async () => {
    task = async (_start, killed) => {
      await killed;
      return { exitCode: 137 };
    };
    expect(await outcomeOf({ timeoutMs: 30 })).toEqual(refused('git-diff-too-slow'));
    ended = [];
    setTimeout(() => stopping.abort(), 20);
    expect(await outcomeOf()).toEqual(refused('git-diff-failed', expect.stringContaining('stopped')));
    expect(running).toBe(0);
  });

  test('that takes too much of the disk or of memory is ended', async () => {
    task = async (start, killed) => {
      for (let number = 0; number < 20_100; number += 1) writeFileSync(join(start.workspace, String(number)), '');
      await killed;
      return { exitCode: 137 };
    };
    expect(await outcomeOf()).toEqual(refused('git-diff-too-large', expect.stringContaining('20000 files')));
    ended = [];
    task = () => Promise.resolve({ exitCode: 137, oomKilled: true });
    expect(await outcomeOf()).toEqual(refused('git-diff-too-large', expect.stringContaining('memory')));
  });

  test.each<[string, string | Buffer | undefined]>([
    ['nothing', undefined],
    ['no JSON', '{'],
    ['something else', JSON.stringify({ made: { ...('made' in made ? made.made : {}), head: '../../etc' } })],
    ['a code that is not its own', JSON.stringify({ refused: { code: 'forbidden', message: 'No.' } })],
    ['too much', Buffer.alloc(maxComparisonBytes + 1, ' ')],
  ])('that hands in %s has failed', async (_what, output) => {
    task = (start) => {
      if (output !== undefined) writeFileSync(join(start.turnDirectory, 'output.json'), output);
      return Promise.resolve({});
    };
    expect(await outcomeOf()).toEqual(refused('git-diff-failed'));
  });

  test('that cannot be begun says why', async () => {
    expect(await outcomeOf({ toolpacks: ['git'] })).toEqual(
      refused('git-diff-failed', expect.stringContaining('npm run images')),
    );
    ended = [];
    expect(await outcomeOf({ full: new Error('The disk is full.') })).toEqual(
      refused('git-diff-failed', 'The disk is full.'),
    );
    ended = [];
    expect(await outcomeOf({ bytes: Buffer.from('b pack') })).toEqual(refused('git-diff-failed'));
    ended = [];
    task = () => Promise.resolve({ exitCode: 65 });
    expect(await outcomeOf()).toEqual(refused('git-diff-failed', expect.stringContaining('what it said')));
  });

  test('that nobody waits for is dropped, and one of another cell', async () => {
    const gone = new HttpRefusal('Nobody waits.', { status: 409, problem: undefined });
    await comparisons({ claim: () => Promise.reject(gone) }).run(job);
    await comparisons().run({ ...job, cell: 'other' });
    expect([ended, asked]).toEqual([[], undefined]);
  });

  test('is made after the one before it', async () => {
    let most = 0;
    task = async (start) => {
      most = Math.max(most, running);
      await new Promise(setImmediate);
      writeFileSync(join(start.turnDirectory, 'output.json'), JSON.stringify(made));
      return {};
    };
    const all = comparisons();
    await Promise.all([all.run(job), all.run({ ...job, diff: 8 }), all.run({ ...job, project: 'other' })]);
    await all.close();
    expect([most, ended.length]).toEqual([1, 3]);
  });
});
