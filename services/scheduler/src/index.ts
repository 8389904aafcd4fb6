export { createScheduler, type Scheduler, type SchedulerConfig, type SchedulerDependencies } from './scheduler.js';
