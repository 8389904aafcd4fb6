import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { alwaysProtected } from '@suzumio/core/policy/host-paths';
import { reservedTargets } from '@suzumio/core/policy/check-mounts';
import { loadPolicy } from '@suzumio/runtime/disk/load-policy';
import { defaultPolicy, policySchema } from '@suzumio/core/policy/policy';
import { renderPolicy } from '@suzumio/core/policy/render-policy';
import { withFiles } from '../config/project-files.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/policy.md'), 'utf8');
const example = /^```yaml\n(# policy\.yaml\n[^]*?)^```$/m.exec(page)?.[1] ?? '';

const load = (text: string) => withFiles({ 'policy.yaml': text }, (root) => loadPolicy(join(root, 'policy.yaml')));

describe('docs/policy.md', () => {
  test('has an example that loads and names every field', () => {
    const policy = load(example);
    expect(policy).toMatchObject({
      networks: ['none', 'bridge'],
      mounts: { roots: [{ path: '/srv/readings', readonly: true }, { readonly: false }] },
      providers: [{ apiKeyEnv: 'RESEARCH_KEY' }, { baseURLEnv: 'LOCAL_MODELS_URL' }],
    });
    for (const field of Object.keys(policySchema.shape)) expect(example).toMatch(new RegExp(`^${field}:`, 'm'));
    for (const field of ['env', 'ceilings'] as const) {
      for (const key of Object.keys(defaultPolicy[field])) expect(example).toMatch(new RegExp(`^ {2}${key}:`, 'm'));
    }
  });

  test('shows the defaults of variables and ceilings', () => {
    const { env, ceilings, storage } = load(example);
    const { env: usualEnv, ceilings: usualCeilings, storage: usualStorage } = defaultPolicy;
    expect({ env, ceilings, storage }).toEqual({ env: usualEnv, ceilings: usualCeilings, storage: usualStorage });
  });

  test('names what is never mounted, and where nothing is', () => {
    for (const path of [...alwaysProtected.filter((path) => !path.startsWith('/var/lib')), ...reservedTargets]) {
      expect(page).toContain(`\`${path}\``);
    }
  });
});

describe('a policy that is printed', () => {
  test('loads to the same policy', () => {
    expect(load(renderPolicy(defaultPolicy))).toEqual(defaultPolicy);
    expect(load(renderPolicy(load(example)))).toEqual(load(example));
  });
});
