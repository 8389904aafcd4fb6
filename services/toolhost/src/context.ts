import type { PackInspector } from '@suzumio/control-plane/packs/pack-inspector';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Metrics } from '@suzumio/runtime/observability/metrics';
import type { HostPaths } from '@suzumio/core/policy/host-paths';
import type { Outbound } from '@suzumio/runtime/http/outbound';
import type { ProxySettings } from '@suzumio/runtime/http/proxy-settings';
import type { Policy } from '@suzumio/core/policy/policy';
import type { SecretSource } from '@suzumio/runtime/process/secret-source';
import type { Transport } from '@suzumio/runtime/queue/transport';
import type { Cell } from '@suzumio/store/cell/cell';
import type { Snapshots } from '@suzumio/store/workspaces/snapshots';
import type { BodyReader } from './bodies/body-reader.js';
import type { RunnerBodies } from './bodies/runner-bodies.js';
import type { LiveTurns } from './live/live-turns.js';
import type { LongAnswers } from './long-answers.js';
import type { RefusalPace } from './refusal-pace.js';
import type { Controllers } from './toolpacks/controllers.js';

/** The ToolHost's collaborators. */
export interface ToolhostDependencies {
  cell: Cell;
  transport: Transport;
  logger: Logger;
  metrics: Metrics;
  /** The keys of providers. */
  secrets: SecretSource;
  /** The proxies to providers. @default none */
  proxies?: ProxySettings;
}

/** What its request handlers share. */
export interface ToolhostContext extends ToolhostDependencies {
  /** The secret from which attempts' tokens are derived. */
  cellKey: string;
  leaseMs: number;
  /** The way to providers. */
  outbound: Outbound;
  /** The present policy of a project. */
  policyOf: (project: string) => Policy;
  /** This machine's file system, for paths in project files. */
  host: HostPaths;
  /** Receives the bodies of runners' requests. */
  bodies: RunnerBodies;
  /** Parses them. */
  reader: BodyReader;
  /** Answers calls, of the long answers one at a time. */
  longAnswers: LongAnswers;
  /** Delays the answers to refused calls. */
  refusals: RefusalPace;
  /** Inspects packs that are pushed. */
  packs: PackInspector;
  /** Calls the controller modules of toolpacks. */
  controllers: Controllers;
  /** Reads snapshots of workspaces. */
  snapshots: Snapshots;
  /** What followers of running turns see. */
  live: LiveTurns;
  /** With which the API asks. */
  serviceToken: string;
  /** This process's id as the owner of model calls. */
  owner: string;
  /** The cell's budget for a day. */
  dayLimitNanoUsd: number | undefined;
}
