import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { refuseByPolicy } from '@suzumio/core/policy/check-project';
import { hostPaths } from '@suzumio/runtime/disk/this-host';
import { renderPolicy } from '@suzumio/core/policy/render-policy';
import { admitOwnFile, describeGrant, hasDayBudget, hostPolicy, policyFile } from '../host-policy.js';
import { sayWarnings } from '../project-file.js';
import { providersBeyond } from '../providers/allow-providers.js';
import { sayHint, sayJson, say, type Session } from '../session.js';
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
      .description('say what this machine does not allow a project file, and what `up` and `init` allow it')
      .option('--posted', 'as it is posted to the API: from a stranger', false)
      .option('--config-root <dir>', 'where imports may come from, instead of the directory of the file'),
    ['policy check newsroom.yaml'],
    ['policy check newsroom.yaml --posted', 'by the policy alone'],
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

interface CheckOptions {
  readonly configRoot?: string;
  readonly posted: boolean;
}

function check(session: Session, file: string, { configRoot, posted }: CheckOptions): Promise<undefined> {
  const loaded = readProjectFile(file, { env: session.context.env, configRoot });
  sayWarnings(session, loaded);
  const policy = hostPolicy(session);
  const grant = posted
    ? undefined
    : admitOwnFile(session, loaded, { policy, providers: providersBeyond(policy, loaded) });
  if (posted) refuseByPolicy(loaded, policy, hostPaths([session.root], { mounting: false }), hasDayBudget(session));
  sayJson(session, { project: loaded.config.name, allowed: true, grant: grant ?? null });
  if (grant === undefined) say(session, `${file} asks for nothing that the policy does not allow.`);
  else {
    say(
      session,
      `Where ${file} is your own, up and init allow it beyond the policy: ${describeGrant(grant).join(', ')}.`,
    );
    sayHint(session, `policy check ${file} --posted`);
  }
  return Promise.resolve(undefined);
}
