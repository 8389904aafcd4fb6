import * as z from 'zod';
import { duration } from '@suzumio/protocol/duration';
import { agentId, priority, projectId, sha256 } from '@suzumio/protocol/ids';
import { ignoredRoots } from '@suzumio/protocol/ignored-roots';
import { maxWorkspaceFiles, workspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { mockScript } from '@suzumio/protocol/mock-script';
import { toolDefinition } from '@suzumio/protocol/runner';
import { servedToolpacks, toolpackTools } from '@suzumio/protocol/tool-names';
import type { BuiltInToolpack } from '@suzumio/protocol/tool-names';
import { toolpackId, toolpackPath } from '@suzumio/protocol/toolpacks/manifest';
import { modelsConfig } from './models-config.js';
import { decimal, flag, line, prose, wholeNumber } from './scalar-config.js';
import { size } from './size-config.js';
import { skills } from './skill.js';
import { teamName } from './team-name.js';
import { workspaceConfig } from './workspace-config.js';

/** The participant that stands for the person; no agent may have this id. */
export const USER_ID = 'user';

/** The sender of the system's own notices; no agent may have this id. */
export const SYSTEM_ID = 'system';

/** An agent's id as a key of the file. */
const agentKey = agentId
  .refine((id) => id !== USER_ID, { error: `"${USER_ID}" is reserved for the person` })
  .refine((id) => id !== SYSTEM_ID, { error: `"${SYSTEM_ID}" is reserved for notices of the system` })
  .refine((id) => /\D/.test(id), { error: 'an id of digits only would not keep its place among the agents' });

export const channelName = z.string().regex(/^#[\p{L}\p{N}][\p{L}\p{N}._-]{0,62}$/u, {
  error: 'expected # and then 1 to 63 letters, digits, dots, hyphens and underscores (quote it: "#name")',
});

/** A channel and the ids of the agents that read it. */
export const channelConfig = z.strictObject({ name: channelName, members: z.array(z.string()) });

/** How many turns an agent may begin in an hour. */
const turnsPerHour = z.union([z.literal('unlimited'), wholeNumber(1, 1_000_000)]);

export const schedulerConfig = z.strictObject({
  kind: z.literal('nonpreemptive-mailbox'),
  maxPromptMessages: wholeNumber(1, 1000),
  maxPromptBytes: size.pipe(
    z
      .int()
      .min(1024)
      .max(16 * 1024 ** 2),
  ),
  intervalMs: duration.pipe(z.int().min(1)),
  maxConcurrentTurns: z.exactOptional(wholeNumber(1, 10_000)),
  maxTurnsPerHour: z.exactOptional(turnsPerHour),
});

/** A directory, or a file, of the host in the container. `source` is absolute once loaded. */
export const mountConfig = z.strictObject({
  source: line(4096),
  target: line(4096).regex(/^\//, { error: 'expected an absolute path in the container' }),
  readonly: flag,
  description: z.exactOptional(line(500)),
});

/** How turn containers are started. Sizes in bytes, durations in milliseconds. */
export const dockerConfig = z.strictObject({
  network: line(120),
  passProviderKeys: flag,
  mounts: z.array(mountConfig).max(32),
  memory: size.pipe(z.int().min(16 * 1024 ** 2)),
  cpus: decimal(0.01, 1024),
  pids: wholeNumber(8, 1_000_000),
  user: z.exactOptional(
    z.preprocess(
      (value) => (typeof value === 'number' ? String(value) : value),
      z.string().regex(/^[\w.-]+(:[\w.-]+)?$/, { error: 'expected a user, or user:group' }),
    ),
  ),
  readOnlyRoot: flag,
  tmpfs: z.record(
    z.string().regex(/^\//, { error: 'expected an absolute path in the container' }),
    size.pipe(z.int().min(1)),
  ),
  runtime: z.exactOptional(line(120)),
  keep: z.enum(['never', 'failed', 'always']),
  keepFor: duration,
  warm: z.exactOptional(z.strictObject({ max: wholeNumber(0, 1000), idle: duration })),
});

export const runnerConfig = z.strictObject({
  mode: z.enum(['mock', 'ai']),
  script: z.exactOptional(mockScript),
  model: z.exactOptional(line(120)),
  models: z.exactOptional(modelsConfig),
});

export const backendConfig = z.strictObject({
  kind: z.enum(['docker', 'process']),
  image: line(500),
  controllerUrl: z.exactOptional(line(2048)),
  docker: dockerConfig,
  runner: runnerConfig,
});

/** Limits on spending; absent ones are unlimited. */
export const budgetConfig = z.strictObject({
  tokens: z.exactOptional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  usd: z.exactOptional(decimal(0, 1_000_000_000)),
  turns: z.exactOptional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
});

const nameLine = line(120);

const variableName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of a variable' });

/** Variables of a container; the limits stay below what a kernel passes to a new process. */
const containerEnv = z
  .record(
    variableName,
    z
      .string()
      .max(32_000)
      .regex(/^[^\0]*$/, { error: 'must not hold the character 0' }),
  )
  .refine((env) => JSON.stringify(env).length <= 128_000, { error: 'more than 128000 characters together' });

/** How often something may happen without effect; `off` means no limit. */
const harmless = z.union([z.literal('off'), wholeNumber(2, 1_000_000)]);

/** When agents in a loop are paused; `off` for never. Absent fields have defaults. */
export const protectionConfig = z.union([
  z.literal('off'),
  z.strictObject({
    exchanges: z.exactOptional(harmless),
    sameMail: z.exactOptional(harmless),
    emptyTurns: z.exactOptional(harmless),
  }),
]);

/** Which agent coordinates, and whether the others write to it alone. Absent fields have defaults. */
export const communicationConfig = z.strictObject({
  coordinatorAgent: z.exactOptional(agentKey),
  restrictNonCoordinatorToCoordinator: z.exactOptional(flag),
  /** The highest priority of their mail then. */
  nonCoordinatorMaxPriority: z.exactOptional(priority),
});

/** The notices of others' turns that an agent may subscribe to. */
export const turnNotices = ['started', 'finished', 'errored'] as const;
export type TurnNotice = (typeof turnNotices)[number];

export const agentConfig = z.strictObject({
  /** The id in the file before counted agents were expanded; the agent's own id elsewhere. */
  base: agentKey,
  role: line(200),
  prompt: z.string(),
  displayName: z.exactOptional(line(80)),
  model: z.exactOptional(nameLine),
  tools: z.array(line(200)).max(1000),
  mounts: z.exactOptional(z.array(mountConfig).max(32)),
  env: z.exactOptional(containerEnv),
  /** In a file a profile's nickname or id; in what a project has stored, the id. */
  profile: z.exactOptional(nameLine),
  team: z.exactOptional(teamName),
  /** Texts that are part of each of its prompts. */
  skills: z.exactOptional(skills),
  backend: z.exactOptional(z.enum(['docker', 'process', 'external'])),
  workspace: z.exactOptional(workspaceConfig),
  budget: z.exactOptional(budgetConfig),
  maxTurnsPerHour: z.exactOptional(turnsPerHour),
  notices: z.exactOptional(z.array(z.enum(turnNotices)).max(turnNotices.length)),
});
export type AgentConfig = z.infer<typeof agentConfig>;

/** An agent as in a file: its profile provides absent fields. */
export const fileAgentConfig = agentConfig.partial({ role: true, prompt: true });
export type FileAgentConfig = z.infer<typeof fileAgentConfig>;

/** A rule of every `agents`: a project without agents could do nothing. */
export const hasEntries = (agents: object) => Object.keys(agents).length > 0;
export const atLeastOneAgent = 'a project needs at least one agent';

const builtInToolpack = z.enum(Object.keys(toolpackTools) as [BuiltInToolpack, ...BuiltInToolpack[]]);

/** A toolpack in a directory of the host. */
const localToolpack = z.strictObject({ id: toolpackId, path: line(4096) });

/** The same as its project has it. */
const takenToolpack = localToolpack.extend({
  /** What its directory held when this version of the file was applied; absent in what a file says. */
  taken: z.exactOptional(
    z.strictObject({
      /** Its directory then, with links resolved. */
      directory: z.string(),
      /** The hash of its files as content. */
      sha256,
      /** Each of its files. */
      files: z.array(z.strictObject({ path: toolpackPath, sizeBytes: z.int(), sha256 })).default([]),
      runner: z.exactOptional(toolpackPath),
      controller: z.exactOptional(toolpackPath),
      tools: z.array(toolDefinition),
    }),
  ),
});
export type LocalToolpack = z.infer<typeof takenToolpack>;
export type TakenToolpack = NonNullable<LocalToolpack['taken']>;

const toolpackOf = <Local extends z.ZodType>(local: Local) =>
  z.union(
    [
      builtInToolpack,
      local,
      z.strictObject({
        id: nameLine,
        mcp: z.strictObject({
          command: z.exactOptional(line(4096)),
          args: z.exactOptional(z.array(z.string())),
          env: z.exactOptional(z.record(z.string(), z.string())),
          url: z.exactOptional(line(2048)),
          headers: z.exactOptional(z.record(z.string(), z.string())),
        }),
      }),
    ],
    // Only what is served is advised.
    { error: `expected one of ${servedToolpacks.join(', ')}, or { path: DIRECTORY }` },
  );

/** A toolpack: one that comes with Suzumio, a directory of the host, or an MCP server. */
export const toolpackConfig = toolpackOf(localToolpack);

/** The repository that a project's agents share, and what clones do without. */
export const gitConfig = z.strictObject({
  shared: flag,
  /** The agents that may move every branch and tag; others move their own. */
  maintainers: z.exactOptional(z.array(z.string()).max(1000)),
  /** Files in Git LFS: refused, or cloned as their pointers. @default refuse */
  lfs: z.exactOptional(z.enum(['refuse', 'pointers'])),
  /** Submodules: refused, or left out of clones. @default refuse */
  submodules: z.exactOptional(z.enum(['refuse', 'skip'])),
});

/** Limits of a turn. Durations in milliseconds. */
export const turnConfig = z.strictObject({
  timeout: duration.pipe(z.int().min(1)),
  maxSteps: wholeNumber(1, 100_000),
  maxToolCalls: wholeNumber(1, 1_000_000),
  maxAttempts: wholeNumber(1, 100),
  startDeadline: duration.pipe(z.int().min(1)),
  providerPatience: duration,
});

export const observabilityConfig = z.strictObject({
  http: z.strictObject({ enabled: flag, host: line(255), port: wholeNumber(0, 65_535) }),
  webui: z.strictObject({ enabled: flag }),
});

/**
 * A project file with everything resolved, as it is stored with the project.
 * Field names are those of the file; durations are milliseconds, sizes bytes, paths absolute.
 */
export const projectConfig = z.strictObject({
  rendered: z.literal(1),
  name: projectId,
  task: prose,
  channels: z.array(channelConfig).max(1000),
  scheduler: schedulerConfig,
  backend: backendConfig,
  agents: z.record(agentKey, agentConfig).refine(hasEntries, { error: atLeastOneAgent }),
  tools: z.strictObject({ toolpacks: z.array(toolpackOf(takenToolpack)).max(100) }),
  turn: turnConfig,
  budget: z.exactOptional(budgetConfig),
  protection: z.exactOptional(protectionConfig),
  communication: z.exactOptional(communicationConfig),
  /** Of all agents. */
  workspace: z.exactOptional(
    z.strictObject({
      ignore: z.exactOptional(ignoredRoots),
      maxBytes: z.exactOptional(size.pipe(workspaceLimits.shape.maxBytes)),
      maxFiles: z.exactOptional(wholeNumber(1, maxWorkspaceFiles)),
    }),
  ),
  git: z.exactOptional(gitConfig),
  observability: observabilityConfig,
});
export type ProjectConfig = z.infer<typeof projectConfig>;

/** The same without the fields from profiles, and from toolpacks: what `config render` prints, and what is posted. */
export const fileConfig = projectConfig.extend({
  tools: z.strictObject({ toolpacks: z.array(toolpackConfig).max(100) }),
  agents: z.record(agentKey, fileAgentConfig).refine(hasEntries, { error: atLeastOneAgent }),
});
export type FileConfig = z.infer<typeof fileConfig>;
