import type { Client, Note } from '@suzumio/sdk/client';
import type { QueryKey } from '@tanstack/react-query';
import { api, keys } from '../../api.js';
import { useMayInCell } from '../use-may-make.js';
import { useMay } from '../use-act.js';
import { type Asked, asked } from './use-run.js';

/** Whose notes they are. */
export type NotesOf = { readonly project: string; readonly agent: string } | { readonly profile: string };

type NoteList = Awaited<ReturnType<Client['listAgentNotes']>>;
type NoteRecord = Awaited<ReturnType<Client['getAgentNoteRecord']>>;
interface Written {
  text: string;
  tags: string[];
}
/** With the version that was read. */
type Edited = Written & { baseVersion: number };

/** How notes are read and changed: those of an agent and of a profile have operations of their own. */
export interface NotesAccess {
  key: QueryKey;
  /** What is read again once they have changed. */
  changes: string | readonly QueryKey[];
  mayWrite: boolean;
  mayRedact: boolean;
  /** @param q words to look for; all where it is empty */
  list: (q: string, limit: number) => Promise<NoteList>;
  add: (body: Written) => Asked;
  edit: (note: string, body: Edited) => Asked;
  /** @param version the one that was read */
  forget: (note: string, version: number) => Asked;
  get: (note: string) => Promise<Note>;
  /** What is recorded of one, which goes with it. */
  record: (note: string) => Promise<NoteRecord>;
  redact: (note: string) => Asked;
}

export function useNotesAccess(of: NotesOf): NotesAccess {
  const may = useMay();
  const mayInCell = useMayInCell();
  const queryOf = (q: string, limit: number) => ({ limit, order: 'desc' as const, ...(q === '' ? {} : { q }) });
  if ('profile' in of) {
    const key = [...keys.profiles, 'notes', of.profile];
    return {
      key,
      changes: [key],
      mayWrite: mayInCell('addProfileNote'),
      mayRedact: mayInCell('redactProfileNote'),
      list: (q, limit) => api.listProfileNotes({ ...of, query: queryOf(q, limit) }),
      add: (body) => asked('addProfileNote', { ...of, body }),
      edit: (note, body) => asked('editProfileNote', { ...of, note, body }),
      forget: (note, baseVersion) => asked('forgetProfileNote', { ...of, note, query: { baseVersion } }),
      get: async (note) => (await api.getProfileNote({ ...of, note })).note,
      record: (note) => api.getProfileNoteRecord({ ...of, note }),
      redact: (note) => asked('redactProfileNote', { ...of, note, body: {} }),
    };
  }
  return {
    key: [...keys.project(of.project), 'notes', of.agent],
    changes: of.project,
    mayWrite: may('addAgentNote'),
    mayRedact: may('redactAgentNote'),
    list: (q, limit) => api.listAgentNotes({ ...of, query: queryOf(q, limit) }),
    add: (body) => asked('addAgentNote', { ...of, body }),
    edit: (note, body) => asked('editAgentNote', { ...of, note, body }),
    forget: (note, baseVersion) => asked('forgetAgentNote', { ...of, note, query: { baseVersion } }),
    get: async (note) => (await api.getAgentNote({ ...of, note })).note,
    record: (note) => api.getAgentNoteRecord({ ...of, note }),
    redact: (note) => asked('redactAgentNote', { ...of, note, body: {} }),
  };
}
