#!/bin/sh
# Makes the repository that the team works on: a small Python library with three commits, the last of which broke a test.
set -eu
target=${1:-$(dirname "$0")/repository}
[ ! -e "$target" ] || { echo "$target is there already" >&2; exit 1; }
git init --quiet --initial-branch=main "$target"
cd "$target"
git config user.name Ren
git config user.email ren@example.org

commit() {
  git add --all
  GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1" git commit --quiet --message "$2"
}

cat > tides.py <<'PYTHON'
"""Levels of the tide, in centimetres."""


def mean(levels):
    """The mean of some levels."""
    return sum(levels) / len(levels)
PYTHON
cat > test_tides.py <<'PYTHON'
import unittest

import tides


class Mean(unittest.TestCase):
    def test_of_two(self):
        self.assertEqual(tides.mean([210, 213]), 211.5)
PYTHON
printf '__pycache__/\n' > .gitignore
commit '2026-03-01T10:00:00+0000' 'Take the mean of levels'

cat >> tides.py <<'PYTHON'


def spread(levels):
    """How far the highest level is above the lowest."""
    return max(levels) - min(levels)
PYTHON
cat >> test_tides.py <<'PYTHON'


class Spread(unittest.TestCase):
    def test_of_three(self):
        self.assertEqual(tides.spread([210, 195, 213]), 18)
PYTHON
commit '2026-03-02T10:00:00+0000' 'Tell how far levels are apart'

sed 's|sum(levels) / len(levels)|sum(levels) // len(levels)|' tides.py > tides.new
mv tides.new tides.py
commit '2026-03-03T10:00:00+0000' 'Give levels as whole centimetres'
