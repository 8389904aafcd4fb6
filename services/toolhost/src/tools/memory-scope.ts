import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { NoteView } from '@suzumio/contract/model/note';
import { renderNote } from '@suzumio/core/prompt/notes';
import * as z from 'zod';
import type { ToolResponse } from '@suzumio/protocol/runner';
import type { ProfileMemory } from '../profile-memory.js';
import type { ToolEnvironment } from './tool.js';

export type Scope = 'agent' | 'profile';

/** Whose notes: the agent's own, or those of its profile. */
export const scope = z.enum(['agent', 'profile']);

export interface ScopedNote {
  scope: Scope;
  note: NoteView;
}

/** So many bytes of notes are shown at once: what is beyond is asked for anew. */
const mostShownBytes = 24 * 1024;

/**
 * The memory of the agent's profile, with all that was noted for it here.
 *
 * @throws SuzumioError why the agent has none: `profile-unknown`, `policy-denied`
 */
export async function requireProfileMemory(environment: ToolEnvironment): Promise<ProfileMemory> {
  const memory = environment.profileMemory();
  if (isSuzumioError(memory)) throw memory;
  await memory.bring();
  return memory;
}

/** The same where the scope asked for includes it; undefined where it does not, or nothing was asked for and there is none. */
export async function profileMemoryIn(
  environment: ToolEnvironment,
  asked: Scope | undefined,
): Promise<ProfileMemory | undefined> {
  if (asked === 'agent' || (asked === undefined && isSuzumioError(environment.profileMemory()))) return undefined;
  return requireProfileMemory(environment);
}

/** Notes as a tool answers with them; as many as there is room for, one at least. */
export function showNotes(found: readonly ScopedNote[], { none, more }: { none: string; more: string }): ToolResponse {
  const texts: string[] = [];
  let bytes = 0;
  for (const { note, scope: of } of found) {
    const text = renderNote(note, of);
    bytes += Buffer.byteLength(text);
    if (texts.length > 0 && bytes > mostShownBytes) break;
    texts.push(text);
  }
  const left = found.length - texts.length;
  const shown = found.slice(0, texts.length);
  return {
    output: found.length === 0 ? none : [...texts, ...(left > 0 ? [`${String(left)} more: ${more}.`] : [])].join('\n'),
    metadata: { notes: shown.map(({ note, scope: of }) => ({ ...note, scope: of })) },
  };
}
