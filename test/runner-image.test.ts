import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { comparePack } from '@suzumio/protocol/repository-diff';
import { sharedPack } from '@suzumio/protocol/shared-repository';
import { localPack, sandboxToolpacks } from '@suzumio/protocol/tool-names';
import { programsOfAgents } from '@suzumio/turn-worker';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const dockerfile = read('runner/Dockerfile');
const words = (text: string | undefined) => (text ?? '').trim().split(/\s+/).sort();

test('the runner image has the same packages of Debian from a registry and from this machine', () => {
  const fromRegistry = words(/--no-install-recommends ([^$]*)\$/.exec(dockerfile)?.[1]?.replaceAll('\\', ' '));
  const offline = words(
    /'(bash [^']*)'\s*\.split\(' '\)\s*\.concat\(pythonPackages\)/.exec(read('scripts/lib/offline-bases.mjs'))?.[1],
  );
  // Debian's image has coreutils; Python is cut into packages of which the machine may have another version.
  expect(fromRegistry).toEqual([...offline.filter((name) => name !== 'coreutils'), 'python3', 'python3-pip'].sort());
});

test('the runner image says what its runner can do', () => {
  const label = words(/LABEL suzumio\.toolpacks="([^"]*)"/.exec(dockerfile)?.[1]);
  expect(label).toEqual([...sandboxToolpacks, sharedPack, comparePack, localPack].sort());
});

test('what a base must have to be taken as it is, what doctor looks for, and what the docs say are the same programs', () => {
  expect(words(/for program in ([^;]*);/.exec(dockerfile)?.[1])).toEqual([...programsOfAgents].sort());
  for (const program of programsOfAgents)
    expect(read('docs/tools.md')).toMatch(new RegExp(`^\\| .*\`${program}\`.* \\| yes`, 'm'));
});
