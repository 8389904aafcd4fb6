import { artifactsVariable } from '@suzumio/protocol/own-artifacts';
import { gitVariable } from '../git/shared-turn.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What tells the worker which turn a process is of; it opens nothing. */
const turnMark = 'SUZUMIO_TURN_MARK';

const kept: readonly string[] = [turnMark, gitVariable, artifactsVariable];

/** What programs find in their environment: nothing that names the turn's door, or opens it. */
export function withoutDoor(env: Environment): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('SUZUMIO_') || kept.includes(name)),
  );
}
