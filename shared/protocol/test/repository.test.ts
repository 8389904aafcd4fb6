import { describe, expect, test } from '@jest/globals';
import { isMovable, repositoryOf, repositoryText, type Upstream } from '@suzumio/protocol/repository';

const [base, tip] = ['a', 'b'].map((letter) => letter.repeat(40)) as [string, string];
const repository = repositoryOf({ git: '/srv/tides', ref: 'main', branch: 'suzumio/ada' }, base);
const moved: Upstream = { commit: tip, ahead: 3, rewritten: false, packs: [] };
const said = (upstream: Upstream, { runsGit = true, refreshes = false } = {}) =>
  repositoryText({ ...repository, upstream }, { runsGit, refreshes });

describe('what a model is told of its clone', () => {
  test('is its base and its branch, in the turn that it was made for', () => {
    expect(repositoryText(repository, { runsGit: true, refreshes: true })).toBe(
      'Your workspace is a Git clone of tides at main, of your own: nothing is pushed there or pulled from there. You are on ' +
        `the branch suzumio/ada, which began at the commit ${base}.`,
    );
  });

  test('is then where its repository is, how far that is, and how it is had', () => {
    expect(said(moved)).toBe(
      'Your workspace is a Git clone of tides at main, of your own: nothing is pushed there, and nothing in it changes by ' +
        `itself. You are on the branch suzumio/ada, which began at the commit ${base}. The repository is at the commit ${tip} now. ` +
        'It has 3 commits that yours began without. To see it, run git fetch upstream && git log suzumio/base..upstream/tip. To ' +
        'have it in your branch, run git merge upstream/tip or git rebase upstream/tip.',
    );
    expect(said({ ...moved, commit: base, ahead: 0 })).toMatch(/The repository is still at that commit\.$/);
    expect(said({ ...moved, ahead: 1 })).toContain('It has 1 commit that');
    expect(said({ ...moved, ahead: undefined })).toMatch(
      /How many commits lie between the two is not known\..* branch, run git diff suzumio\/base upstream\/tip \| git apply --3way --index\.$/,
    );
    expect(said({ ...moved, commit: base, ahead: 0, rewritten: true })).toMatch(
      /at that commit again: its history was/,
    );
    expect(said({ ...moved, rewritten: true })).toContain('Its history was rewritten');
    expect(said({ ...moved, shallow: [base] })).toContain('git fetch --update-shallow upstream');
    expect(said(moved, { refreshes: true })).toMatch(
      /git log suzumio\/base\.\.upstream\/tip\. To have it in your branch and your files, call workspace\.git\.refresh\.$/,
    );
    // Who runs no programs is told no commands.
    expect(said(moved, { runsGit: false })).not.toContain('git fetch');
    expect(said(moved, { runsGit: false, refreshes: true })).toMatch(
      /began without\. To have it .* workspace\.git\.refresh\.$/,
    );
  });

  test('says where nothing could be found out', () => {
    const noNews = { code: 'repository-refused' } as const;
    expect(said({ ...moved, noNews })).toContain(
      `could not be found out before this turn (repository-refused): it was last seen at the commit ${tip}.`,
    );
    expect(said({ ...moved, commit: base, ahead: 0, noNews })).toMatch(/it was last seen at that commit\.$/);
  });
});

test('what was cloned at a commit stays there', () => {
  expect([undefined, 'main', 'v1', base].map((ref) => isMovable(ref === undefined ? {} : { ref }))).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
