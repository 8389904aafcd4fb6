export { createTurnWorker, type TurnWorker } from './turn-worker.js';
export type { TurnWorkerSettings } from './config.js';
export type { PreparedSandbox, SandboxEnd, StartOptions, TurnEngine } from './engine/turn-engine.js';
export { howToHave } from './engine/docker/own-image.js';
export { checkDocker } from './engine/docker/check-docker.js';
export { missingPrograms, programsOfAgents } from './engine/process/programs.js';
