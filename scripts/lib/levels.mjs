/**
 * The suites of the essential level that start something or take long, each with the promise of `test/promises.md` that it
 * guards by itself. Unit suites are all of it; the others are of the whole level, `npm run test:all`.
 */
export const essential = {
  'services/api/test/openapi/contract.slow.test.ts': 'refusals',
  'services/api/test/csrf.slow.test.ts': 'other-origins',
  'services/api/test/delete-project.slow.test.ts': 'deletion',
  'services/toolhost/test/gateway/breaker.slow.test.ts': 'circuit-breaker',
  'services/toolhost/test/gateway/spending.slow.test.ts': 'budget',
  'services/toolhost/test/gateway/steps.slow.test.ts': 'answer-paid-once',
  'services/toolhost/test/replayed-tokens.slow.test.ts': 'token-checked',
  'shared/store/test/redaction/redact-message.slow.test.ts': 'redaction',
  'shared/store/test/turns/record-tool-call.slow.test.ts': 'effect-once',
  'test/resumed-steps.slow.test.ts': 'turn-resumes',

  'runner/test/work-tree/killed-changes.process.test.ts': 'own-files',
  'cli/test/serving.process.test.ts': 'command',
  'services/scheduler/test/bullmq.process.test.ts': 'redis-wiped',
  'shared/store/test/sigkill.process.test.ts': 'store-killed',
  'shared/store/test/sqlite/writer.process.test.ts': 'mail-kept',
  'test/fuzz/api.process.test.ts': 'hostile-api',
  'test/fuzz/doors.process.test.ts': 'hostile-doors',
  'test/fuzz/toolhost.process.test.ts': 'hostile-toolhost',

  'web/test/page.browser.test.ts': 'page-walk',

  'services/turn-worker/test/sealed.container.test.ts': 'sealed',
  'test/crash.container.test.ts': 'services-killed',
  'test/demo.container.test.ts': 'demo',
  'test/stack.container.test.ts': 'stack',
};
