import { ConfigErrors } from '@suzumio/core/config/config-problem';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { type HostPaths, isBelow, realPath } from '@suzumio/core/policy/host-paths';
import type { Policy } from '@suzumio/core/policy/policy';
import { oneLine } from '@suzumio/core/prompt/body';
import * as z from 'zod';
import { type ConsentKind, consentsIn } from '../consents.js';
import { type Session, shellWord } from '../session.js';
import { UsageError } from '../usage-error.js';

const kind: ConsentKind<z.ZodString> = {
  name: 'toolpacks-allowed.json',
  what: 'toolpacks',
  schema: z.string(),
  isSame: (one, other) => one === other,
};

/** A toolpack of a file that the policy does not name. */
interface Beyond {
  readonly index: number;
  readonly id: string;
  /** With links resolved. */
  readonly directory: string;
}

/**
 * The directories of a file's toolpacks that its project may load beyond the policy. A controller module is code on this
 * machine, and another person may have written the file: so the user is asked once for each, and the answer is stored for that
 * file.
 *
 * @param policy what the project is allowed already
 * @param agreed what the command itself allows
 * @throws {ConfigErrors} `policy-denied` without a terminal to ask at
 * @throws UsageError where the user does not allow it
 */
export async function allowToolpacks(
  session: Session,
  source: ProjectSource,
  { policy, host, agreed }: { policy: Policy; host: HostPaths; agreed: readonly string[] },
): Promise<string[]> {
  const [file = ''] = source.files;
  const consents = consentsIn(session.root, kind);
  const isAgreed = ({ directory }: Beyond) =>
    agreed.some((one) => realPath(one, host) === directory) || consents.allowed(file, directory);
  const all = beyond(source, policy, host);
  const unknown = all.filter((pack) => !isAgreed(pack));
  const ask = session.json ? undefined : session.context.ask;
  if (unknown.length > 0 && ask === undefined) throw nobodyToAsk(session, source, unknown);
  for (const { id, directory } of unknown) {
    session.context.err.write(
      `${file} loads the toolpack ${id} from ${oneLine(directory)}. Its controller module is code that runs on this machine, as you.\n`,
    );
    const answer = ((await ask?.('Allow that for this file, now and later? [y/N] ')) ?? '').trim().toLowerCase();
    if (answer !== 'y' && answer !== 'yes') throw new UsageError('Nothing was made.');
    consents.remember(file, directory);
  }
  return all.map(({ directory }) => directory);
}

/** The directories of a file's toolpacks that a policy does not name, with links resolved. */
export function toolpacksBeyond(source: ProjectSource, policy: Policy, host: HostPaths): string[] {
  return beyond(source, policy, host).map(({ directory }) => directory);
}

function beyond({ config }: ProjectSource, policy: Policy, host: HostPaths): Beyond[] {
  return config.tools.toolpacks.flatMap((pack, index) => {
    if (typeof pack === 'string' || !('path' in pack)) return [];
    if (isBelow(pack.path, policy.toolpacks.directories, host)) return [];
    return [{ index, id: pack.id, directory: realPath(pack.path, host) }];
  });
}

function nobodyToAsk({ suzumio }: Session, source: ProjectSource, unknown: readonly Beyond[]): ConfigErrors {
  const problems = unknown.map(({ index, id, directory }) => ({
    ...source.locate(['tools', 'toolpacks', index]),
    code: 'policy-denied' as const,
    message: `tools.toolpacks: nobody is there to be asked about the toolpack ${id} in ${directory} (policy: toolpacks.directories)`,
  }));
  const options = unknown.map(({ directory }) => `--allow-toolpack ${shellWord(directory)}`).join(' ');
  const next = `the same on a terminal, which asks, or with ${options}   (or name it in the policy: ${suzumio} policy show)`;
  return new ConfigErrors(problems, 'policy-denied', { next });
}
