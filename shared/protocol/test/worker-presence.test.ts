import { expect, test } from '@jest/globals';
import { hasImage } from '@suzumio/protocol/worker-presence';

const images = ['runner:dev', 'registry.test:5000/team/runner:2', 'docker.io/library/node:24', 'tools@sha256:abc'];

test.each([
  ['runner:dev', true],
  ['docker.io/runner:dev', true],
  ['runner', false],
  ['registry.test:5000/team/runner:2', true],
  ['registry.test:5000/team/runner', false],
  ['node:24', true],
  ['library/node:24', true],
  ['tools@sha256:abc', true],
  ['tools', false],
  ['sha256:0123456789abcdef', undefined],
  ['0123456789ab', undefined],
])('whether an engine has %s: %s', (image, expected) => {
  expect(hasImage(images, image)).toBe(expected);
});

test('an image without a tag is the latest', () => {
  expect(hasImage(['runner:latest'], 'runner')).toBe(true);
});
