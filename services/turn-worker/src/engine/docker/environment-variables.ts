import { defaultTurnDir } from '@suzumio/protocol/door';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { artifactsPath, artifactsVariable } from '@suzumio/protocol/own-artifacts';
import type { StartOptions } from '../turn-engine.js';

/** Where an agent's home is in its containers. */
export const homePath = '/home/agent';

/**
 * The variables of a container: the project's own, overridden by those that tell the runner where its turn is. On a
 * network that includes the token, for runners that read it there.
 */
export function environmentVariables(
  { env, network }: Pick<SandboxLimits, 'env' | 'network'>,
  { ref, input, home, artifacts }: Pick<StartOptions, 'ref' | 'input' | 'home' | 'artifacts'>,
): Record<string, string> {
  return {
    ...(home === undefined ? {} : { HOME: homePath }),
    ...env,
    SUZUMIO_TURN_DIR: defaultTurnDir,
    ...(artifacts ? { [artifactsVariable]: artifactsPath } : {}),
    ...(network === 'none'
      ? {}
      : {
          SUZUMIO_PROJECT_ID: ref.project,
          SUZUMIO_AGENT_ID: ref.agent,
          SUZUMIO_TURN_ID: ref.turn,
          SUZUMIO_AGENT_TOKEN: input.token,
          SUZUMIO_CONTROLLER_URL: input.controllerUrl,
        }),
  };
}
