import { describe } from '@jest/globals';
import { silentLogger } from '@suzumio/runtime/observability/logger';
import { createInProcessTransport } from '@suzumio/runtime/queue/in-process-transport';
import { schedulerContract } from './scheduler-contract.js';

describe('the scheduler in one process', () => {
  schedulerContract(() => createInProcessTransport({ logger: silentLogger() }));
});
