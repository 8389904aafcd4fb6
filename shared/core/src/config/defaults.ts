import type { ProjectConfig } from '@suzumio/contract/model/project-config';

const MIB = 1024 ** 2;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

type Defaults = Pick<ProjectConfig, 'scheduler' | 'turn' | 'tools' | 'observability' | 'backend'> & {
  readonly channels: readonly string[];
};

/** The defaults of a project file. */
export const configDefaults: Defaults = {
  channels: ['#project', '#blocked'],
  scheduler: {
    kind: 'nonpreemptive-mailbox',
    maxPromptMessages: 20,
    maxPromptBytes: 64 * 1024,
    intervalMs: 2000,
  },
  backend: {
    kind: 'docker',
    image: 'suzumio-runner:dev',
    docker: {
      network: 'none',
      passProviderKeys: false,
      mounts: [],
      memory: 1024 * MIB,
      cpus: 1,
      pids: 256,
      readOnlyRoot: true,
      tmpfs: { '/tmp': 256 * MIB },
      keep: 'failed',
      keepFor: HOUR_MS,
    },
    runner: { mode: 'ai' },
  },
  tools: { toolpacks: ['core'] },
  turn: {
    timeout: 15 * MINUTE_MS,
    maxSteps: 50,
    maxToolCalls: 200,
    maxAttempts: 3,
    startDeadline: HOUR_MS,
    providerPatience: 24 * HOUR_MS,
  },
  observability: { http: { enabled: true, host: '127.0.0.1', port: 39_400 }, webui: { enabled: true } },
};

/** What holds instead where turns run programs: a build takes longer than talk, and more memory. */
export const programDefaults = { timeout: HOUR_MS, memory: 4096 * MIB } as const;

/** The agent that coordinates, unless a project names another. A project need not have it. */
export const defaultCoordinator = 'pm';
