export { Scheduler, type SchedulerConfig, type SchedulerDependencies } from './scheduler.js';
