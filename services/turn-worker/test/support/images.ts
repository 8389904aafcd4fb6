import Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';

export const docker = new Docker();
export const baseImage = 'suzumio-test-base:dev';
export const runnerImage = 'suzumio-runner:dev';

/** An image that differs from another one only in how it is started. Take it away again with `remove`. */
export async function deriveImage(
  from: string,
  changes: string[],
): Promise<{ name: string; remove: () => Promise<void> }> {
  const container = await docker.createContainer({ Image: from, Cmd: ['none'], NetworkDisabled: true });
  const repo = `suzumio-test-${randomBytes(6).toString('hex')}`;
  try {
    await container.commit({ repo, tag: 'dev', changes: changes.join('\n') });
  } finally {
    await container.remove();
  }
  const name = `${repo}:dev`;
  return {
    name,
    remove: async () => {
      await docker.getImage(name).remove({ force: true });
    },
  };
}

/** The agent of most tests: whatever program the workspace holds as `agent.mjs`. */
export const agentCommand = 'CMD ["node", "/workspace/agent.mjs"]';

/** An image for all tests of a suite that runs {@link agentCommand} without a shim: they see what the program does. */
export function agentImage(): { readonly name: string } {
  let image: Awaited<ReturnType<typeof deriveImage>>;
  beforeAll(async () => {
    image = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
  });
  afterAll(() => image.remove());
  return {
    get name() {
      return image.name;
    },
  };
}
