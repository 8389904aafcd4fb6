import type { FailureCode } from '@suzumio/protocol/failure-codes';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { RepositoryProblem, shellPath } from './repository-problem.js';

/** A Git command ended with a failure. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';

  constructor(
    args: readonly string[],
    /** Its exit code, or the signal that ended it. */
    readonly ended: number | NodeJS.Signals,
    /** The end of what it printed. */
    readonly diagnostics: string,
    /** The proxy that it was to go through, as it is shown. */
    readonly proxy?: string,
  ) {
    super(`git ${args.find((arg) => /^[a-z]/.test(arg)) ?? ''} ended with ${ended}: ${diagnostics.trim()}`);
  }

  /** Whether it ended by itself because the other side is away, refuses, or has not what it was asked for. */
  get isOfOtherSide(): boolean {
    return typeof this.ended === 'number' && (ofOtherSide.test(this.diagnostics) || away.test(this.diagnostics));
  }

  /** Whether the two sides name objects by hashes of different kinds. */
  get isOtherFormat(): boolean {
    return /mismatched algorithms/.test(this.diagnostics);
  }
}

const ofOtherSide =
  /unable to access '|couldn't find remote ref|not our ref|Authentication failed|could not read Username|repository '.*' not found|redirect/;

/** A server that may answer later. */
const away =
  /[Cc]ould not resolve host|Failed to connect|Connection (?:refused|reset|timed out|closed)|[Oo]peration (?:timed out|too slow)|returned error: (?:408|429|5\d\d)|RPC failed|early EOF|unexpected disconnect|hung up unexpectedly|Empty reply from server|unable to access '/;

type Source = Pick<CloneRequest, 'git' | 'ref' | 'depth'>;

/** What Git says, what that means, and what would be right; the first that matches counts. */
const meanings: readonly [pattern: RegExp, code: FailureCode, meaning: (source: Source) => string][] = [
  [
    /certificate (?:problem|verification failed)|server certificate verification/,
    'repository-failed',
    ({ git }) =>
      `The certificate of ${git} is not trusted: GIT_SSL_CAINFO of the worker names a file with the authorities.`,
  ],
  [
    /\bgit: (?:command )?not found/,
    'git-missing',
    () => 'This worker has no git, which it needs to clone repositories.',
  ],
  [/lazy fetching disabled|from promisor remote/, 'repository-unsupported', partialSentence],
  [
    /couldn't find remote ref|not our ref|expected commit type|Needed a single revision|no such remote ref/,
    'ref-unknown',
    missingRef,
  ],
  [
    /dubious ownership/,
    'repository-refused',
    ({ git }) =>
      `${git} belongs to another user of the host than the worker, and Git clones none of those: give it to the worker's user (chown -R), or name a copy that this user has made.`,
  ],
  [
    /(?:loose object|object file) .*(?:corrupt|empty)|corrupt loose object|possible repository corruption|did not send all necessary objects|missing necessary objects|bad pack header|packed object .* is corrupt|unable to read (?:tree|sha1 file|[0-9a-f]{40})|bad object|missing blob object/,
    'repository-unsupported',
    ({ git }) =>
      isPath(git)
        ? `${git} is damaged, objects of it are missing or broken: git -C ${shellPath(git)} fsck names them. Bring them back, or name another clone of it.`
        : `${git} is damaged on its server, so that Git cannot read all of it.`,
  ],
  [
    /fsck error|error in object|inflate|object corrupt|invalid path/,
    'repository-unsupported',
    ({ git }) => `${git} holds something that Git itself refuses.`,
  ],
  [
    /invalid index-pack output|File too large|signal 25|SIGXFSZ|[Oo]ut of memory|malloc failed|mmap failed/,
    'repository-too-large',
    ({ git }) => `${git} is larger than a workspace may be: fetch less of its history with depth, or use another.`,
  ],
  [/No space left on device/, 'disk-full', () => "The worker's disk is full."],
  [
    /unknown repository extension|unknown value for 'extensions|Expected git repo version/,
    'repository-unsupported',
    ({ git }) => `${git} is kept in a way that the Git of the worker does not know: a later Git is needed, or a clone.`,
  ],
  [
    /Permission denied/,
    'repository-refused',
    ({ git }) => `${git} cannot be read by the user of the worker: let it read all of that.`,
  ],
  [
    /redirect/,
    'repository-refused',
    ({ git }) => `${git} leads to another address, which is not followed: write that one.`,
  ],
  [
    /not found|Authentication failed|could not read Username|terminal prompts disabled|returned error: 40[1-4]|does not appear to be a git repository/,
    'repository-refused',
    ({ git }) =>
      isPath(git)
        ? `There is no repository at ${git} on the worker's host.`
        : `There is no repository ${git}, or it is private: workers have no passwords, and clone what anybody may.`,
  ],
];

/**
 * The failure of an attempt whose repository could not be fetched. Only a server may be away: what Git says of a path is the same
 * next time.
 *
 * @param alias how the command named the repository
 */
export function fetchFailure(error: GitFailed, source: Source, alias?: string): RepositoryProblem {
  const text = alias === undefined ? error.diagnostics : error.diagnostics.replaceAll(alias, source.git);
  const all = `${String(error.ended)}\n${text}`;
  const ofProxy = error.proxy === undefined ? undefined : faultOfProxy(all, error.proxy, source.git);
  const [, known, meaning] = meanings.find(([pattern]) => pattern.test(all)) ?? [];
  const isAway = !isPath(source.git) && away.test(all) && !/SSL certificate problem/.test(all);
  const lines = text.split('\n').filter((line) => /^(?:fatal|error|remote):/.test(line));
  const line = lines.slice(0, 3).join(' ').slice(0, 500);
  return new RepositoryProblem(
    ofProxy === undefined
      ? (known ?? (isAway ? 'repository-unavailable' : 'repository-failed'))
      : 'repository-unavailable',
    `${ofProxy ?? meaning?.(source) ?? `${source.git} could not be fetched.`} Git says: ${line === '' ? String(error.ended) : line}`,
    { cause: error },
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

/** Says which commit is not there. */
export function missingRef({ git, ref }: Source): string {
  if (ref === undefined)
    return `${git} has no commit at HEAD: it is empty, or HEAD names a branch without commits. Make a commit there, or name a branch that has some (ref).`;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref)) return `${git} has no commit ${ref}.`;
  const whole = /^[0-9a-f]{4,63}$/.test(ref) ? ' If that is the id of a commit, write all of its digits.' : '';
  return `${git} has no branch, tag or commit ${ref}.${whole}`;
}

/**
 * Says that objects were left out when a repository was cloned itself.
 *
 * @param depth what would be there; where none is, nothing is offered
 */
export function partialSentence({ git, depth }: Source, mayBeShort = depth === undefined): string {
  const short = mayBeShort ? ', or clone the newest commit alone (depth: 1)' : '';
  return isPath(git)
    ? `${git} is a partial clone, which lacks objects that were left out when it was made: make it whole, with git -C ${shellPath(git)} fetch --refetch --no-filter${short}.`
    : `${git} is a partial clone on its server, and lacks objects: clone what it was made from.`;
}

const isPath = (git: string) => git.startsWith('/');
