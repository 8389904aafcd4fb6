/**
 * Every error code that can reach a person, a program or a log, with what it means to its reader.
 *
 * `status` is the HTTP status of the problem document; `retryable` says whether the same request may succeed
 * later without being changed. Codes are stable: scripts and alerts match on them. Failures of turns have codes of
 * their own in `protocol/failure-codes.ts`, because the worker and the runner speak them too.
 */
export const errorCodes = {
  // The request itself.
  'invalid-request': { status: 400, retryable: false },
  'invalid-config': { status: 422, retryable: false },
  'not-supported-yet': { status: 422, retryable: false },
  'not-found': { status: 404, retryable: false },
  'method-not-allowed': { status: 405, retryable: false },
  'request-too-slow': { status: 408, retryable: true },
  'body-too-large': { status: 413, retryable: false },
  'headers-too-large': { status: 431, retryable: false },
  'range-not-satisfiable': { status: 416, retryable: false },
  'idempotency-mismatch': { status: 422, retryable: false },
  'idempotency-in-progress': { status: 409, retryable: true },
  'rate-limited': { status: 429, retryable: true },

  // Authentication and authorization.
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  'foreign-host': { status: 403, retryable: false },
  'foreign-origin': { status: 403, retryable: false },
  'policy-denied': { status: 403, retryable: false },
  'token-exists': { status: 409, retryable: false },
  'token-unknown': { status: 404, retryable: false },
  'sign-in-insecure': { status: 403, retryable: false },
  'sign-in-link-ended': { status: 410, retryable: false },
  'session-unknown': { status: 404, retryable: false },

  // Projects, agents, mail.
  'project-unknown': { status: 404, retryable: false },
  'project-exists': { status: 409, retryable: false },
  'project-closed': { status: 409, retryable: false },
  'transition-refused': { status: 409, retryable: false },
  'config-conflict': { status: 409, retryable: false },
  'config-change-refused': { status: 409, retryable: false },
  'config-version-unknown': { status: 404, retryable: false },
  'report-version-refused': { status: 409, retryable: false },
  'agent-unknown': { status: 404, retryable: false },
  'agent-state-refused': { status: 409, retryable: false },
  'budget-refused': { status: 422, retryable: false },
  'turn-unknown': { status: 404, retryable: false },
  'turn-state-refused': { status: 409, retryable: false },
  'message-unknown': { status: 404, retryable: false },
  'thread-unknown': { status: 404, retryable: false },
  'redelivery-refused': { status: 409, retryable: false },
  'message-unseen': { status: 409, retryable: false },
  'message-unanswerable': { status: 422, retryable: false },
  'recipient-unknown': { status: 422, retryable: false },
  'recipient-retired': { status: 409, retryable: false },
  'recipient-ambiguous': { status: 422, retryable: false },
  'recipient-refused': { status: 422, retryable: false },
  'recipient-self': { status: 422, retryable: false },
  'channel-unknown': { status: 422, retryable: false },
  'channel-not-member': { status: 422, retryable: false },
  'team-unknown': { status: 404, retryable: false },
  'team-empty': { status: 422, retryable: false },
  'nobody-fits': { status: 409, retryable: false },
  'task-unknown': { status: 422, retryable: false },
  'task-not-assignee': { status: 403, retryable: false },
  'task-state-refused': { status: 409, retryable: false },
  'attachment-unknown': { status: 422, retryable: false },
  'priority-unknown': { status: 422, retryable: false },
  'sender-forged': { status: 422, retryable: false },
  'report-missing': { status: 404, retryable: false },

  // What several people may change at the same time.
  'edit-conflict': { status: 409, retryable: false },

  // Identities and teams that outlive projects.
  'profile-unknown': { status: 404, retryable: false },
  'profile-exists': { status: 409, retryable: false },
  'profile-retired': { status: 409, retryable: false },
  'persona-invalid': { status: 422, retryable: false },
  'team-exists': { status: 409, retryable: false },
  'team-not-empty': { status: 409, retryable: false },
  'team-has-no-project': { status: 409, retryable: false },
  'project-standing': { status: 409, retryable: false },

  // What agents and profiles keep in mind.
  'note-unknown': { status: 404, retryable: false },
  'memory-full': { status: 409, retryable: false },

  // Tools.
  'tool-unknown': { status: 422, retryable: false },
  'tool-not-allowed': { status: 403, retryable: false },
  'call-not-asked': { status: 403, retryable: false },
  'tool-input-invalid': { status: 422, retryable: false },
  'tool-failed': { status: 422, retryable: false },
  'toolpack-failed': { status: 422, retryable: false },
  'toolpack-timeout': { status: 422, retryable: false },
  'toolpack-answer-invalid': { status: 422, retryable: false },
  'outcome-unknown': { status: 422, retryable: false },
  'tool-limit-reached': { status: 429, retryable: false },
  'turn-ended': { status: 409, retryable: false },
  'stale-submit': { status: 409, retryable: false },
  'answer-unknown': { status: 404, retryable: false },
  'journal-mismatch': { status: 409, retryable: false },
  'step-unnamed': { status: 409, retryable: false },
  'step-not-begun': { status: 409, retryable: false },
  'step-ended': { status: 409, retryable: false },
  'workspace-too-large': { status: 409, retryable: false },
  'artifact-unknown': { status: 404, retryable: false },
  'artifact-entry-unknown': { status: 404, retryable: false },
  'artifact-redacted': { status: 410, retryable: false },
  'artifact-path-invalid': { status: 422, retryable: false },
  'artifact-directory-invalid': { status: 422, retryable: false },
  'artifact-not-text': { status: 422, retryable: false },
  'workspace-changed': { status: 409, retryable: false },
  'workspace-path-unknown': { status: 404, retryable: false },
  'content-collected': { status: 410, retryable: false },
  'model-cannot-see': { status: 422, retryable: false },
  'image-too-large': { status: 422, retryable: false },
  'image-broken': { status: 422, retryable: false },
  'git-not-shared': { status: 404, retryable: false },
  'git-ref-unknown': { status: 404, retryable: false },
  'git-ref-refused': { status: 403, retryable: false },
  'git-ref-moved': { status: 409, retryable: false },
  'git-refs-full': { status: 422, retryable: false },
  'git-pack-invalid': { status: 422, retryable: false },
  'git-pack-unknown': { status: 404, retryable: false },
  'git-commit-unknown': { status: 404, retryable: false },
  'git-diff-pending': { status: 409, retryable: true },
  'git-diff-no-worker': { status: 503, retryable: true },
  'git-diff-too-large': { status: 422, retryable: false },
  'git-diff-too-slow': { status: 422, retryable: false },
  'git-diff-failed': { status: 422, retryable: true },
  // Of the command: a patch that does not fit the files of a person's repository.
  'patch-refused': { status: 409, retryable: false },
  // Of the command, too: what Git on a person's machine does not push or fetch.
  'git-refused': { status: 409, retryable: false },
  'content-missing': { status: 422, retryable: false },
  'content-mismatch': { status: 422, retryable: false },
  'content-too-large': { status: 413, retryable: false },

  // Models. None may have a status that looks like a failure of the door, which is retried.
  'preset-unknown': { status: 422, retryable: false },
  'step-limit-reached': { status: 429, retryable: false },
  'budget-reached': { status: 402, retryable: false },
  'context-overflow': { status: 422, retryable: false },
  // The refusal has no words, and the question is long: results are shortened, and nothing else.
  'context-suspected': { status: 422, retryable: false },
  'provider-unavailable': { status: 424, retryable: true },
  'provider-refused': { status: 424, retryable: false },

  // Running turns, followed.
  'live-unavailable': { status: 503, retryable: true },
  'live-full': { status: 503, retryable: true },

  // Storage limits.
  'quota-exceeded': { status: 403, retryable: false },
  'disk-reserve': { status: 507, retryable: true },
  'disk-full': { status: 507, retryable: true },

  // Attempts.
  'token-rejected': { status: 401, retryable: false },
  'attempt-over': { status: 409, retryable: false },
  'attempt-busy': { status: 503, retryable: true },
  'claim-refused': { status: 409, retryable: false },
  'handler-agent-refused': { status: 403, retryable: false },
  'agent-not-external': { status: 409, retryable: false },
  'nothing-to-do': { status: 409, retryable: false },
  'protocol-unsupported': { status: 409, retryable: false },

  // The machine.
  'store-busy': { status: 503, retryable: true },
  'schema-newer': { status: 500, retryable: false },
  'data-dir-in-use': { status: 500, retryable: false },
  'data-dir-invalid': { status: 500, retryable: false },
  'store-corrupt': { status: 500, retryable: false },
  'store-missing': { status: 500, retryable: false },
  'store-unreadable': { status: 500, retryable: false },
  'project-misplaced': { status: 500, retryable: false },
  'server-unreachable': { status: 503, retryable: true },
  'settings-invalid': { status: 500, retryable: false },
  internal: { status: 500, retryable: false },
} as const satisfies Record<string, { status: number; retryable: boolean }>;

/** A stable name of something that went wrong. */
export type ErrorCode = keyof typeof errorCodes;
