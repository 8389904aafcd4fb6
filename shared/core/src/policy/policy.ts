import { posix } from 'node:path';
import * as z from 'zod';
import { duration } from '@suzumio/protocol/duration';
import { modelPrice, modelProvider } from '@suzumio/contract/model/models-config';
import { decimal, flag, line, wholeNumber } from '@suzumio/contract/model/scalar-config';
import { size } from '@suzumio/contract/model/size-config';
import { storageLimits } from '@suzumio/contract/model/storage';
import { maxWorkspaceFiles, usualWorkspaceLimits, workspaceLimits } from '@suzumio/protocol/workspace-manifest';

const MIB = 1024 ** 2;

/** A directory of a host; `/` would be all of it. */
const directory = line(4096).refine((path) => posix.isAbsolute(path) && posix.resolve(path) !== '/', {
  error: 'expected the absolute path of a directory that is not /',
});

/** `*` stands for any characters but `/`, `**` for any. */
const pattern = line(500);

const names = (of: z.ZodType<string>) => z.array(of).max(1000);

/** An allowed provider: its address, together with the variable of the key that is sent there. */
const policyProvider = z
  .strictObject({
    baseURL: z.exactOptional(
      line(2048).refine((url) => /^https?:$/.test(URL.parse(url.trim())?.protocol ?? ''), {
        error: 'expected an address that begins with http:// or https://, such as https://api.openai.com/v1',
      }),
    ),
    baseURLEnv: modelProvider.shape.baseURLEnv,
    apiKeyEnv: modelProvider.shape.apiKeyEnv,
    /** How long a provider must be silent to count as unavailable, whatever a project's own `timeoutMs` is. */
    silence: z.exactOptional(duration),
    /** The only models that may be called, by patterns of the provider's names; the first match counts. */
    models: z.exactOptional(
      z
        .array(z.strictObject({ name: pattern, price: z.exactOptional(modelPrice) }))
        .min(1)
        .max(1000),
    ),
    /** Whether the day's budget uses the project's price for a model without a price here. */
    ownPrices: z.exactOptional(flag),
  })
  .refine((provider) => (provider.baseURL === undefined) !== (provider.baseURLEnv === undefined), {
    error: 'a provider needs either baseURL or baseURLEnv',
  });

/**
 * What project files may request of a host: the operator's `policy.yaml`, of the cell and of each worker. Absent fields
 * have the defaults given here, and a list replaces its default.
 */
export const policySchema = z.strictObject({
  /** The backends of turns. `process` has no isolation. */
  backends: z
    .array(z.enum(['docker', 'process']))
    .min(1)
    .default(['docker']),
  /** Patterns of image names. */
  images: names(pattern).default(['suzumio-runner:*']),
  /** Networks that containers may join: `none`, `bridge`, `host`, or the engine's name of one. */
  networks: names(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,119}$/, { error: 'expected none, bridge, host or a name' }),
  ).default(['none']),
  /** Patterns of `uid:gid` for containers. Neither may be 0, even where a pattern allows it. */
  users: names(pattern).default(['*']),
  /** Runtimes that may be requested besides the engine's default. */
  runtimes: names(line(120)).default([]),
  /** Whether a container's root file system may be writable: nothing limits what is written to it. */
  writableRoot: flag.default(false),
  mounts: z
    .strictObject({
      /** Directories that may be mounted, and everything below them; read-only unless `readonly: false`. */
      roots: z.array(z.strictObject({ path: directory, readonly: flag.default(true) })).max(1000),
    })
    .default({ roots: [] }),
  workspaces: z
    .strictObject({
      /** Directories that new workspaces may be copied from, and everything below them. */
      roots: names(directory),
    })
    .default({ roots: [] }),
  /** Patterns of the addresses and paths of repositories that workers may clone. */
  git: names(pattern).default([]),
  env: z
    .strictObject({
      /** Patterns of variables that may be set in a container. */
      allowed: names(pattern).default(['*']),
      /** Patterns of variables that may not. `SUZUMIO_*` never may. */
      forbidden: names(pattern).default(['PATH', 'LD_*', 'NODE_OPTIONS']),
    })
    .prefault({}),
  /** The highest limits that may be requested. */
  ceilings: z
    .strictObject({
      memory: size.default(4096 * MIB),
      cpus: decimal(0.01, 1024).default(4),
      pids: wholeNumber(8, 1_000_000).default(1024),
      /** All of a container's writable memory file systems together. */
      tmpfs: size.default(1024 * MIB),
      /** The time limit of a turn. */
      timeout: duration.default(4 * 3_600_000),
      /** Model calls of a turn. */
      maxSteps: wholeNumber(1, 100_000).default(1000),
      /** Tool calls of a turn; the same number of refused ones is recorded. */
      maxToolCalls: wholeNumber(1, 1_000_000).default(5000),
      /** The bytes of a workspace's files, and its files and directories. */
      workspaceBytes: size.pipe(workspaceLimits.shape.maxBytes).default(usualWorkspaceLimits.maxBytes),
      workspaceFiles: wholeNumber(1, maxWorkspaceFiles).default(usualWorkspaceLimits.maxFiles),
      /** The bytes and the files of an agent's home on its host; and of what its workspace has that is not captured. */
      homeBytes: size.default(10 * 1024 * MIB),
      homeFiles: wholeNumber(1, 10_000_000).default(500_000),
      /** How long an ended container is kept. */
      keepFor: duration.default(24 * 3_600_000),
    })
    .prefault({}),
  /** The storage of projects, and the disk's reserve. */
  storage: storageLimits.prefault({}),
  memory: z
    .strictObject({
      /** Whether agents that start from a profile may note for it, and read what others of it noted in other projects. */
      profiles: flag.default(true),
    })
    .prefault({}),
  /** Model providers. */
  providers: z.array(policyProvider).max(1000).default([]),
  /** Code that runs beside the ToolHost: none by default. */
  toolpacks: z
    .strictObject({
      /** Directories with toolpacks. */
      directories: names(directory).default([]),
      /** Command lines of MCP servers, word by word. */
      mcpCommands: z.array(z.array(z.string()).min(1)).max(1000).default([]),
      /** Addresses of MCP servers. */
      mcpUrls: names(line(2048)).default([]),
    })
    .prefault({}),
});
export type Policy = z.infer<typeof policySchema>;

/** The policy of a host without a `policy.yaml`. */
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
