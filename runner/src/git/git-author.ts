import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { authorOf } from '@suzumio/protocol/git-author';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where Git commonly has the settings of a system. */
const usualSettings = '/etc/gitconfig';

/**
 * Has the Git of a turn's programs commit under the agent's name wherever nothing else is set. Of all places for settings the
 * system's counts least, so that repositories, homes and the image's own settings go before. Git before 2.32 does not look there.
 *
 * @returns the environment of programs
 */
export async function withAuthor(input: RunnerTurnInput, turnDir: string, env: Environment): Promise<Environment> {
  const { name, email } = authorOf(input);
  const path = join(turnDir, 'gitconfig');
  const others = env['GIT_CONFIG_SYSTEM'] ?? usualSettings;
  await writeFile(
    path,
    `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n[include]\n\tpath = ${quoted(others)}\n`,
  );
  return { ...env, GIT_CONFIG_SYSTEM: path };
}

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
