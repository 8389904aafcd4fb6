import { posix } from 'node:path';
import { z } from 'zod';
import { duration } from '@suzumio/protocol/duration';
import { modelPrice, modelProvider } from '@suzumio/contract/model/models-config';
import { decimal, flag, line, wholeNumber } from '@suzumio/contract/model/scalar-config';
import { size } from '@suzumio/contract/model/size-config';
import { storageLimits } from '@suzumio/contract/model/storage';

const MIB = 1024 ** 2;

/** A directory of a host; `/` would be all of it. */
const directory = line(4096).refine((path) => posix.isAbsolute(path) && posix.resolve(path) !== '/', {
  error: 'expected the absolute path of a directory that is not /',
});

/** `*` stands for any characters but `/`, `**` for any. */
const pattern = line(500);

const names = (of: z.ZodType<string>) => z.array(of).max(1000);

/** A provider that may be used: where it is, together with the variable whose key is sent there. */
const policyProvider = z
  .strictObject({
    baseURL: z.exactOptional(
      line(2048).refine((url) => /^https?:$/.test(URL.parse(url.trim())?.protocol ?? ''), {
        error: 'expected an address that begins with http:// or https://, such as https://api.openai.com/v1',
      }),
    ),
    baseURLEnv: modelProvider.shape.baseURLEnv,
    apiKeyEnv: modelProvider.shape.apiKeyEnv,
    /** How long nothing has to come from it before it is taken for away, whatever a project's own `timeoutMs` is. */
    silence: z.exactOptional(duration),
    /** The only models that are asked there, by patterns of the names that it has for them; the first that fits counts. */
    models: z.exactOptional(
      z
        .array(z.strictObject({ name: pattern, price: z.exactOptional(modelPrice) }))
        .min(1)
        .max(1000),
    ),
    /** Whether the day's budget counts a model without a price here by the one that its project gives. */
    ownPrices: z.exactOptional(flag),
  })
  .refine((provider) => (provider.baseURL === undefined) !== (provider.baseURLEnv === undefined), {
    error: 'a provider needs either baseURL or baseURLEnv',
  });

/**
 * What project files may ask of a host: the operator's `policy.yaml`, of the cell and of each worker. What it does not
 * name has the default given here, and a list that it names replaces the default.
 */
export const policySchema = z.strictObject({
  /** What turns may run in. `process` has no isolation. */
  backends: z
    .array(z.enum(['docker', 'process']))
    .min(1)
    .default(['docker']),
  /** Patterns of the names of images. */
  images: names(pattern).default(['suzumio-runner:*']),
  /** Networks that containers may join: `none`, `bridge`, `host`, or the engine's name of one. */
  networks: names(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/, { error: 'expected none, bridge, host or a name' }),
  ).default(['none']),
  /** Patterns of `uid:gid` that containers may run as. Neither may be 0, even where a pattern allows it. */
  users: names(pattern).default(['*']),
  /** Runtimes, besides the engine's own, that may be asked for. */
  runtimes: names(line(120)).default([]),
  /** Whether a container's own file system may be writable: nothing bounds what is written to it. */
  writableRoot: flag.default(false),
  mounts: z
    .strictObject({
      /** Directories that may be mounted, with all below them; for reading only unless `readonly: false`. */
      roots: z.array(z.strictObject({ path: directory, readonly: flag.default(true) })).max(1000),
    })
    .default({ roots: [] }),
  workspaces: z
    .strictObject({
      /** Directories that new workspaces may be copied from, with all below them. */
      roots: names(directory),
    })
    .default({ roots: [] }),
  env: z
    .strictObject({
      /** Patterns of the names of variables that may be set in a container. */
      allowed: names(pattern).default(['*']),
      /** Patterns of those that may not. `SUZUMIO_*` never may. */
      forbidden: names(pattern).default(['PATH', 'LD_*', 'NODE_OPTIONS']),
    })
    .prefault({}),
  /** The most that may be asked for. */
  ceilings: z
    .strictObject({
      memory: size.default(4096 * MIB),
      cpus: decimal(0.01, 1024).default(4),
      pids: wholeNumber(8, 1_000_000).default(1024),
      /** All of a container's writable memory file systems together. */
      tmpfs: size.default(1024 * MIB),
      /** Of a turn. */
      timeout: duration.default(4 * 3_600_000),
      /** Answers of its model in a turn. */
      maxSteps: wholeNumber(1, 100_000).default(1000),
      /** Tool calls in a turn; as many refused ones are recorded. */
      maxToolCalls: wholeNumber(1, 1_000_000).default(5000),
      /** How long an ended container is kept. */
      keepFor: duration.default(24 * 3_600_000),
    })
    .prefault({}),
  /** What may be stored of projects, and what of the disk stays free. */
  storage: storageLimits.prefault({}),
  /** Model providers. */
  providers: z.array(policyProvider).max(1000).default([]),
  /** Code beside the ToolHost: none by default. */
  toolpacks: z
    .strictObject({
      /** Directories that hold toolpacks. */
      directories: names(directory).default([]),
      /** Command lines of MCP servers, word by word. */
      mcpCommands: z.array(z.array(z.string()).min(1)).max(1000).default([]),
      /** Addresses of MCP servers. */
      mcpUrls: names(line(2048)).default([]),
    })
    .prefault({}),
});
export type Policy = z.infer<typeof policySchema>;

/** The policy of a host whose operator wrote none. */
export const defaultPolicy: Policy = policySchema.parse({});

/** Whether a name matches one of the patterns of a policy. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((one) => toRegExp(one).test(name));
}

function toRegExp(text: string): RegExp {
  const parts = text.split(/(\*+)/).map((part) => {
    if (part === '*') return '[^/]*';
    return part.startsWith('*') ? '.*' : part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('')}$`, 's');
}
