import { readProjectFile } from '@suzumio/shared/config/load-project';
import { refuseByPolicy } from '@suzumio/shared/policy/check-project';
import { hostPaths } from '@suzumio/shared/policy/host-paths';
import { renderPolicy } from '@suzumio/shared/policy/render-policy';
import { hostPolicy, policyFile } from '../host-policy.js';
import { sayWarnings } from '../project-file.js';
import { sayJson, say, type Session } from '../session.js';
import type { Register } from './action.js';
import { examples } from './help.js';

export const registerPolicy: Register = (program, action) => {
  const policy = program.command('policy').description('what project files may ask of this machine');
  examples(policy.command('show').description('print the policy that holds here, its defaults written out'), [
    'policy show',
  ]).action(action(show));
  examples(
    policy
      .command('check <file>')
      .description('say what the policy does not allow a project file, were it posted to the API')
      .option('--config-root <dir>', 'refuse imports from outside this directory'),
    ['policy check newsroom.yaml'],
  ).action(action(check));
  examples(policy, ['policy show'], ['policy check newsroom.yaml']);
};

function show(session: Session): Promise<undefined> {
  const policy = hostPolicy(session);
  const file = policyFile(session);
  sayJson(session, { file: file ?? null, policy });
  say(session, `# ${file ?? 'the defaults: there is no policy.yaml in the data directory'}`);
  if (!session.json) session.context.out.write(renderPolicy(policy));
  return Promise.resolve(undefined);
}

function check(session: Session, file: string, { configRoot }: { configRoot?: string }): Promise<undefined> {
  const loaded = readProjectFile(file, { env: session.context.env, configRoot });
  sayWarnings(session, loaded);
  refuseByPolicy(loaded, hostPolicy(session), hostPaths([session.root], { mounting: false }));
  sayJson(session, { project: loaded.config.name, allowed: true });
  say(session, `${file} asks for nothing that the policy does not allow.`);
  return Promise.resolve(undefined);
}
