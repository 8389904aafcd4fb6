export type { Engines } from './attempt/worker-parts.js';
export { createTurnWorker, type TurnWorker, type TurnWorkerDependencies } from './turn-worker.js';
export {
  cellConfig,
  type CellConfig,
  turnWorkerConfig,
  type TurnWorkerConfig,
  type TurnWorkerSettings,
} from './config.js';
export type { AgentRef, PreparedSandbox, Sandbox, SandboxEnd, StartOptions, TurnEngine } from './engine/turn-engine.js';
export { checkDocker, type DockerCheck, type DockerReport } from './engine/docker/check-docker.js';
