import type { CellAct } from '@suzumio/contract/model/acts';
import { emptyRequest } from '@suzumio/contract/operations/request';
import type { memory } from '@suzumio/contract/operations/memory';
import { parse } from '@suzumio/runtime/http/validate';
import { agentOwner, editNoteOfAgent, forgetNoteOfAgent, noteForAgent } from '@suzumio/store/memory/agent-notes';
import { listNotes, memoryUse, type NoteChange, noteCalled, searchNotes } from '@suzumio/store/memory/notes';
import { listSummaries } from '@suzumio/store/turns/list-model-calls';
import { bodyOf, type Call } from '../call.js';
import type { ApiContext } from '../context.js';
import type { Runs } from '../routes.js';
import { recordOfAgentNote, recordOfProfileNote, redactableAgentNote, redactProfileNote } from './redact-note.js';
import { redactNow } from './redact-now.js';

export const memoryRuns: Runs<typeof memory> = {
  getMemory: (call) => call.read((reader) => ({ items: listSummaries(reader, call.params.agent) })),

  listAgentNotes: (call) =>
    call.read((reader) => {
      const { q, ...page } = call.query;
      const owner = agentOwner(reader, call.params.agent);
      const part =
        q === undefined ? listNotes(reader, owner, page) : { items: searchNotes(reader, owner, q, page.limit) };
      return { ...part, use: memoryUse(reader, owner) };
    }),

  async addAgentNote(call) {
    const { project, agent } = call.params;
    const answer = await call.write((tx) => ({ note: noteForAgent(tx, agent, call.body, { actor: call.actor }) }));
    call.locate(`/api/projects/${project}/agents/${agent}/notes/${answer.note.id}`);
    return answer;
  },

  getAgentNote: (call) =>
    call.read((reader) => ({ note: noteCalled(reader, agentOwner(reader, call.params.agent), call.params.note) })),

  editAgentNote: (call) =>
    call.write((tx) => ({
      note: editNoteOfAgent(tx, call.params.agent, call.params.note, changeOf(call)),
    })),

  forgetAgentNote(call) {
    parse(emptyRequest, bodyOf(call.request), 'body');
    return call.write((tx) => {
      forgetNoteOfAgent(tx, call.params.agent, call.params.note, { actor: call.actor }, call.query.baseVersion);
      return { id: call.params.note };
    });
  },

  getAgentNoteRecord: (call) =>
    call.withProject((store) => recordOfAgentNote(store.reader, call.params.agent, call.params.note)),

  redactAgentNote: (call) =>
    redactNow(call, (reader) => redactableAgentNote(reader, call.params.agent, call.params.note)),

  listProfileNotes({ context, params: { profile }, query: { q, ...page } }) {
    const { profileNotes } = context.cell.catalog;
    const part =
      q === undefined ? profileNotes.list(profile, page) : { items: profileNotes.search(profile, q, page.limit) };
    return { ...part, use: profileNotes.use(profile) };
  },

  async addProfileNote(call) {
    const { context, params, body, key, actor } = call;
    const note = await context.cell.catalog.profileNotes.add(params.profile, { ...body, author: actor }, key);
    await noteAct(context, 'profile.noted', params.profile, actor);
    call.locate(`/api/profiles/${params.profile}/notes/${note.id}`);
    return { note };
  },

  getProfileNote: ({ context, params: { profile, note } }) => ({
    note: context.cell.catalog.profileNotes.get(profile, note),
  }),

  async editProfileNote(call) {
    const { context, params, key, actor } = call;
    const { profileNotes } = context.cell.catalog;
    const note = await profileNotes.edit(params.profile, params.note, changeOf(call), key);
    await noteAct(context, 'profile.note-edited', params.profile, actor);
    return { note };
  },

  async forgetProfileNote({ context, params, query: { baseVersion }, request, actor }) {
    parse(emptyRequest, bodyOf(request), 'body');
    await context.cell.catalog.profileNotes.forget(params.profile, params.note, baseVersion);
    await noteAct(context, 'profile.note-forgotten', params.profile, actor);
    return { id: params.note };
  },

  getProfileNoteRecord: ({ context, params: { profile, note } }) => recordOfProfileNote(context, profile, note),

  redactProfileNote: ({ context, params, body: { because = null }, actor, key }) =>
    redactProfileNote(context, params, { actor, because, key }),
};

function changeOf({
  body: { baseVersion: base, ...change },
  actor,
}: Call<typeof memory.editAgentNote> | Call<typeof memory.editProfileNote>): NoteChange {
  return { ...change, base, actor };
}

async function noteAct({ cell: { catalog } }: ApiContext, act: CellAct, profile: string, actor: string): Promise<void> {
  await catalog.audit.note(act, { actor, subject: catalog.profiles.get(profile).nickname });
}
