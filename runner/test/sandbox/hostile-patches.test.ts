import { expect, test } from '@jest/globals';
import { applyHunks, HunkRefused } from '@suzumio/runner/sandbox/patch/apply-hunks';
import { PatchError } from '@suzumio/runner/sandbox/patch/file-patch';
import { shownNearest } from '@suzumio/runner/sandbox/patch/nearest-lines';
import { parseUnifiedDiff } from '@suzumio/runner/sandbox/patch/parse-unified-diff';
import fc, { caseCount } from '../../../test/support/fast-check.js';

/** Lines as patches have them, in any order. */
const line = fc.oneof(
  fc.constantFrom(
    'diff --git a/f b/f',
    'diff --git "a/\\303" b/f',
    'diff --git ',
    '--- a/f',
    '+++ b/f',
    '--- "a/f',
    '+++ /dev/null',
    '--- ',
    '+++ ',
    'new file mode 100644',
    'old mode ',
    'rename from f',
    'copy to ../f',
    'GIT binary patch',
    '@@',
    '@@ -1,2 +1,2 @@',
    '@@ -0,0 +1 @@',
    '@@ -99999999999999999999,0 +0 @@',
    '@@ -1,99999999999 +1 @@',
    '\\ No newline at end of file',
    '\\',
    '',
    '\r',
    ' a',
    '-a',
    '+b',
    '-- ',
  ),
  fc.string({ maxLength: 8 }),
);

test('whatever is sent for a patch is read, or refused with a reason', () => {
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 25 }),
      fc.constantFrom('', 'a', 'a\n', 'a\r\nb\r\n', 'a\n\na\n'),
      (lines, text) => {
        try {
          for (const { hunks } of parseUnifiedDiff(lines.join('\n'))) applyHunks(text, hunks);
        } catch (error) {
          if (error instanceof HunkRefused) expect(shownNearest(text.split('\n'), error.wanted)).not.toBe('');
          else expect(error).toBeInstanceOf(PatchError);
        }
      },
    ),
    { numRuns: caseCount(1000) },
  );
});
