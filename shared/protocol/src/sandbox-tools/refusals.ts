/**
 * Why a sandbox tool was not carried out, as a model is told: each with a sentence that says what would be right.
 *
 * - `input-invalid`: the input is not what the tool takes
 * - `path-outside`: the path, or a link on it, leads out of the sandbox's roots
 * - `path-kept`: files of other agents are not written there: what Git or the sandbox keeps for itself
 * - `path-changed`: something on the path was replaced while it was gone along
 * - `path-ambiguous`: two names are in print as the one that was asked for, and neither is it
 * - `file-unknown`, `directory-unknown`: nothing is there
 * - `not-a-file`, `not-a-directory`: something else is there
 * - `file-exists`: a new file's place is taken
 * - `file-changed`: another program changed the file in the meantime
 * - `file-too-large`: more bytes than the tool takes
 * - `binary-file`: the file is no text; the sentence names what it is
 * - `model-cannot-see`, `image-too-large`, `image-broken`: the file is an image, and not shown
 * - `read-only`, `permission-denied`, `disk-full`: the system refused
 * - `patch-invalid`, `patch-unsupported`: the patch cannot be read, or asks for what is not done
 * - `patch-mismatch`, `patch-ambiguous`: what is to be changed is not in the file, or there more than once
 * - `artifact-unknown`: nothing is published under that name, or its content was removed
 * - `not-a-clone`: the workspace is no Git repository, or none any more
 * - `merge-unfinished`: a merge, a rebase or the like has been begun in the clone, and not ended
 * - `merge-conflict`: what is new and what is there contradict each other; the sentence names the files
 * - `git-failed`: Git refused; the sentence says what it said
 * - `pattern-invalid`: no regular expression
 * - `program-missing`: the image has not the program that does it
 * - `outcome-unknown`: the turn was interrupted while it ran; it had reached outside, so it is not repeated
 * - `output-gone`: output of an earlier command that is not kept any more
 * - `handle-unknown`: no background command of this attempt has that handle
 * - `too-many-processes`: as many background commands as may run do
 * - `step-failed`: a step of a mock script did not do what it was to do
 * - `workspace-write-failed`: an artifact could not be written into the workspace
 * - `toolpack-failed`: a toolpack's handler threw, or its process ended; the sentence says how
 * - `toolpack-timeout`: a toolpack's handler did not answer in time, and was ended
 * - `toolpack-answer-invalid`: a toolpack's handler answered something else than `{output, title?, metadata?}`
 * - `cancelled`: the turn ended
 * - `tool-failed`: a defect of the tool; the sentence says which
 * - `system-error`: the system refused for another reason, which the sentence names
 */
export const sandboxRefusalCodes = [
  'input-invalid',
  'path-outside',
  'path-kept',
  'path-changed',
  'path-ambiguous',
  'file-unknown',
  'directory-unknown',
  'not-a-file',
  'not-a-directory',
  'file-exists',
  'file-changed',
  'file-too-large',
  'binary-file',
  'model-cannot-see',
  'image-too-large',
  'image-broken',
  'read-only',
  'permission-denied',
  'disk-full',
  'patch-invalid',
  'patch-unsupported',
  'patch-mismatch',
  'patch-ambiguous',
  'artifact-unknown',
  'not-a-clone',
  'merge-unfinished',
  'merge-conflict',
  'git-failed',
  'pattern-invalid',
  'program-missing',
  'outcome-unknown',
  'output-gone',
  'handle-unknown',
  'too-many-processes',
  'step-failed',
  'workspace-write-failed',
  'toolpack-failed',
  'toolpack-timeout',
  'toolpack-answer-invalid',
  'cancelled',
  'tool-failed',
  'system-error',
] as const;
export type SandboxRefusalCode = (typeof sandboxRefusalCodes)[number];
