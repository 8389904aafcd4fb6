import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { AttemptFailure } from '../engine/attempt-failure.js';

/** A Git command ended with a failure. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';

  constructor(
    args: readonly string[],
    /** Its exit code, or the signal that ended it. */
    readonly ended: number | NodeJS.Signals,
    /** The end of what it said. */
    readonly said: string,
    /** The proxy that it was to go through, as it is shown. */
    readonly proxy?: string,
  ) {
    super(`git ${args.find((arg) => /^[a-z]/.test(arg)) ?? ''} ended with ${ended}: ${said.trim()}`);
  }

  /** Whether it ended by itself because the other side is away, refuses, or has not what it was asked for. */
  get isOfOtherSide(): boolean {
    return typeof this.ended === 'number' && ofOtherSide.test(this.said);
  }
}

const ofOtherSide =
  /unable to access '|couldn't find remote ref|not our ref|Authentication failed|could not read Username|repository '.*' not found|redirect|RPC failed|unexpected disconnect/;

/** What Git says, what that means, and what would be right; the first that matches counts. */
const meanings: readonly [said: RegExp, code: FailureCode, meaning: (name: string, ref: string) => string][] = [
  [
    /certificate (?:problem|verification failed)|server certificate verification/,
    'repository-unavailable',
    (name) =>
      `The certificate of ${name} is not trusted: GIT_SSL_CAINFO of the worker names a file with the authorities.`,
  ],
  [
    /\bgit: (?:command )?not found/,
    'git-missing',
    () => 'This worker has no git, which it needs to clone repositories.',
  ],
  [
    /couldn't find remote ref|not our ref|expected commit type|Needed a single revision/,
    'ref-unknown',
    (name, ref) => `${name} has no branch, tag or commit ${ref}; the id of a commit has to be whole.`,
  ],
  [
    /fsck error|error in object|inflate|object corrupt|invalid path/,
    'repository-unsupported',
    (name) => `${name} holds something that Git itself refuses.`,
  ],
  [
    /invalid index-pack output|File too large|signal 25|SIGXFSZ|[Oo]ut of memory|malloc failed|mmap failed/,
    'repository-too-large',
    (name) => `${name} is larger than a workspace may be: fetch less of its history with depth, or use another.`,
  ],
  [/No space left on device/, 'disk-full', () => "The worker's disk is full."],
  [
    /redirect/,
    'repository-refused',
    (name) => `${name} leads to another address, which is not followed: write that one.`,
  ],
  [
    /not found|Authentication failed|could not read Username|terminal prompts disabled|returned error: 40[1-4]|does not appear to be a git repository|dubious ownership/,
    'repository-refused',
    (name) =>
      `There is no repository ${name}, or it is private, or another user's: workers have no passwords, and clone what anybody may.`,
  ],
];

/** The failure of an attempt whose repository could not be fetched. */
export function fetchFailure(error: GitFailed, name: string, ref = 'HEAD'): AttemptFailure {
  const text = `${String(error.ended)}\n${error.said}`;
  const ofProxy = error.proxy === undefined ? undefined : faultOfProxy(text, error.proxy, name);
  const [, code, meaning] = meanings.find(([said]) => said.test(text)) ?? [];
  const lines = error.said.split('\n').filter((line) => /^(?:fatal|error|remote):/.test(line));
  const line = lines.slice(0, 3).join(' ').slice(0, 500);
  return new AttemptFailure(
    ofProxy === undefined ? (code ?? 'repository-unavailable') : 'repository-unavailable',
    `${ofProxy ?? meaning?.(name, ref) ?? `${name} could not be fetched.`} Git says: ${line === '' ? String(error.ended) : line}`,
  );
}

/** What a proxy did, where what Git says is about it. */
function faultOfProxy(diagnostics: string, proxy: string, name: string): string | undefined {
  const status = /(?:HTTP code (\d+) from proxy|CONNECT tunnel failed, response (\d+))/.exec(diagnostics);
  if (status) {
    const [, before, after] = status;
    return `The proxy at ${proxy} does not let the worker through to ${name} (${before ?? after}).`;
  }
  if (/resolve proxy|connect to .* port .*|Proxy CONNECT aborted/.test(diagnostics)) {
    return `The proxy at ${proxy}, through which the worker was to reach ${name}, does not answer.`;
  }
  return undefined;
}
