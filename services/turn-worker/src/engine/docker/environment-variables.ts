import { isWithin } from '@suzumio/core/policy/host-paths';
import { defaultTurnDir } from '@suzumio/protocol/door';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { artifactsPath, artifactsVariable } from '@suzumio/protocol/own-artifacts';
import type { StartOptions } from '../turn-engine.js';

/** Where an agent's home is in its containers. */
export const homePath = '/home/agent';
const temporaryPath = '/tmp';

/**
 * The variables of a container: the project's own, overridden by those that tell the runner where its turn is. On a
 * network that includes the token, for runners that read it there. What the image says of the language, of the home or
 * of temporary files stays.
 *
 * @param inImage the image's own, as `NAME=value`; null where it has none
 */
export function environmentVariables(
  limits: Pick<SandboxLimits, 'env' | 'network' | 'mounts' | 'tmpfs' | 'readOnlyRoot'>,
  { ref, input, home, artifacts }: Pick<StartOptions, 'ref' | 'input' | 'home' | 'artifacts'>,
  inImage: readonly string[] | null,
): Record<string, string> {
  const usual = ['HOME', 'LANG', 'TMPDIR'].map((name) => `${name}=`);
  const ofImage = (inImage ?? []).filter((variable) => usual.some((name) => variable.startsWith(name)));
  return {
    LANG: 'C.UTF-8',
    TMPDIR: temporaryDirectory(limits),
    ...Object.fromEntries(ofImage.map((variable) => [variable.replace(/=.*/s, ''), variable.replace(/^.*?=/s, '')])),
    ...(home === undefined ? {} : { HOME: homePath }),
    ...limits.env,
    SUZUMIO_TURN_DIR: defaultTurnDir,
    ...(artifacts ? { [artifactsVariable]: artifactsPath } : {}),
    ...(limits.network === 'none'
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

/** Where programs may write what they need for a while: `/tmp`, or where the project has put memory instead. */
function temporaryDirectory({
  mounts,
  tmpfs,
  readOnlyRoot,
}: Pick<SandboxLimits, 'mounts' | 'tmpfs' | 'readOnlyRoot'>): string {
  const inMemory = Object.keys(tmpfs);
  const writable = [...inMemory, ...mounts.filter(({ readonly }) => !readonly).map(({ target }) => target)];
  if (!readOnlyRoot || writable.some((path) => isWithin(temporaryPath, path))) return temporaryPath;
  return inMemory.find((path) => !isWithin(path, '/dev')) ?? temporaryPath;
}
