import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { carryProfileChanges } from '@suzumio/store/cell/carry-profile-changes';
import type { ProfileNotes } from '@suzumio/store/cell/profile-notes';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { agentRow } from '@suzumio/store/rows';
import type { ToolhostContext } from './context.js';

/** The memory of a profile, as one of its agents uses it. */
export interface ProfileMemory {
  /** The profile's id. */
  profile: string;
  notes: Pick<ProfileNotes, 'get' | 'list' | 'search' | 'use'>;
  /** Has what agents of the same project did to it there. */
  bring: () => Promise<void>;
}

/** The memory of the profile that an agent started from, or why it may not use one. */
export function profileMemoryOf(
  context: ToolhostContext,
  store: ProjectStore,
  agent: string,
): ProfileMemory | SuzumioError {
  const { profile_id: profile } = agentRow(store.reader, agent);
  const { catalog } = context.cell;
  if (profile === null) {
    return new SuzumioError(
      'profile-unknown',
      'You started from no profile, so there is no memory of one. Leave scope out, or say "agent".',
    );
  }
  if (!context.policyOf(store.project).memory.profiles) {
    return new SuzumioError(
      'policy-denied',
      'The policy does not let agents share notes across projects (policy: memory.profiles). Leave scope out, or say "agent".',
    );
  }
  // A project that was brought from another server may name a profile of that one.
  if (!catalog.profiles.find(profile)) {
    return new SuzumioError(
      'profile-unknown',
      'The profile that you started from is not kept on this server. Leave scope out, or say "agent".',
    );
  }
  return { profile, notes: catalog.profileNotes, bring: () => carryProfileChanges(catalog, store) };
}

/** How many notes of a profile its agents in a project may read. */
export function countReadableNotes({ cell, policyOf }: ToolhostContext, project: string, profile: string): number {
  return policyOf(project).memory.profiles ? cell.catalog.profileNotes.count(profile) : 0;
}

/** Brings what was noted for a profile to where its other agents read it; what fails here the next sweep does. */
export async function bringProfileNotes({ cell, logger }: ToolhostContext, store: ProjectStore): Promise<void> {
  await carryProfileChanges(cell.catalog, store).catch((error: unknown) => {
    logger.warn({ err: error, project: store.project }, 'notes for a profile wait in their project');
  });
}
