import { expect, test } from '@jest/globals';
import { defaultPolicy, policySchema } from '@suzumio/core/policy/policy';
import { policyWithoutSecrets } from '@suzumio/core/policy/policy-without-secrets';
import { renderPolicy } from '@suzumio/core/policy/render-policy';

test('no user, password, query or argument of a policy is shown', () => {
  const policy = policySchema.parse({
    git: ['https://bot:s3cret@git.example/**', 'git@git.example:team/*'],
    providers: [
      { baseURL: 'https://ann:s3cret@models.example/v1?key=s3cret', apiKeyEnv: 'KEY', silence: '1m' },
      { baseURLEnv: 'MODELS_URL' },
    ],
    toolpacks: {
      mcpCommands: [['npx', 'server', '--token=s3cret']],
      mcpUrls: ['https://s3cret@tools.example/sse#s3cret', 'HTTP://a:b@s3cret@tools.example/'],
    },
  });
  const shown = policyWithoutSecrets(policy);
  expect(renderPolicy(shown)).not.toContain('s3cret');
  expect([shown.git, shown.providers, shown.toolpacks]).toEqual([
    ['https://(hidden)@git.example/**', 'git@git.example:team/*'],
    [
      { baseURL: 'https://(hidden)@models.example/v1?(hidden)', apiKeyEnv: 'KEY', silence: 60_000 },
      { baseURLEnv: 'MODELS_URL' },
    ],
    {
      directories: [],
      mcpCommands: [['npx', '(hidden)', '(hidden)']],
      mcpUrls: ['https://(hidden)@tools.example/sse#(hidden)', 'HTTP://(hidden)@tools.example/'],
    },
  ]);
  expect(policyWithoutSecrets(defaultPolicy)).toEqual(defaultPolicy);
});
