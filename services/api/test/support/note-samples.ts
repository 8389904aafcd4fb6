import type { Operation } from '@suzumio/contract/operations/operation';
import type { Answer } from './api.js';
import type { ContractWorld, Sample } from './contract-world.js';

let made = 0;
const next = () => `Note ${String(++made)}.`;

/** What is sent to operations on notes. */
export const noteBodies: Readonly<Record<string, () => unknown>> = {
  addAgentNote: () => ({ text: next(), tags: ['style'] }),
  editAgentNote: () => ({ text: 'Changed.' }),
  addProfileNote: () => ({ text: next() }),
  editProfileNote: () => ({ tags: [] }),
  redactAgentNote: () => ({ because: 'It held a password.' }),
  redactProfileNote: () => ({ because: 'It held a password.' }),
};

/** Changes of these that make them others. */
export const otherNoteBodies: Readonly<Record<string, unknown>> = {
  addAgentNote: { text: 'Other.' },
  editAgentNote: { text: 'Other.' },
  addProfileNote: { text: 'Other.' },
  editProfileNote: { text: 'Other.' },
  redactAgentNote: { because: 'It was wrong.' },
  redactProfileNote: { because: 'It was wrong.' },
};

const isAboutOne = ({ path }: Operation) => path.includes('/notes/:note');
const ofProfile = ({ path }: Operation) => path.startsWith('/api/profiles/');

/** A note that nothing else is tried with, where an operation is about one. */
export async function noteSample({ api }: ContractWorld, operation: Operation): Promise<Sample> {
  if (!isAboutOne(operation)) return {};
  const place = ofProfile(operation) ? '/api/profiles/Akari/notes' : '/api/projects/team/agents/ben/notes';
  const { note } = (await api.post(place, { text: next() })).json as { note: { id: string } };
  return { note: note.id };
}

/** How operations on notes are made to refuse. */
export async function noteRefusal(
  world: ContractWorld,
  operation: Operation,
  code: string,
): Promise<Answer | undefined> {
  if (!operation.path.includes('/notes')) return undefined;
  const body = noteBodies[operation.id]?.() as object | undefined;
  const ask = (sample: Sample) => world.call(operation, { ...(body === undefined ? {} : { body }), ...sample });
  switch (code) {
    case 'note-unknown':
      return ask({ note: 'note_1' });
    case 'agent-unknown':
      return ask({ agent: 'zoe', ...(await noteSample(world, operation)) });
    case 'edit-conflict':
      return ask({
        ...(await noteSample(world, operation)),
        ...(operation.method === 'delete' ? { query: 'baseVersion=99' } : { body: { ...body, baseVersion: 99 } }),
      });
    case 'memory-full': {
      const text = 'x'.repeat(8 * 1024);
      const [path, sample]: [string, Sample] = ofProfile(operation)
        ? ['/api/profiles/Ren/notes', { profile: 'Ren' }]
        : ['/api/projects/team/agents/dan/notes', { agent: 'dan' }];
      const small = (await world.api.post(path, { text: 'Small.' })).json as { note?: { id: string } };
      // 127 of these leave less room than one takes.
      if (small.note !== undefined) {
        await Promise.all(Array.from({ length: 127 }, () => world.api.post(path, { text })));
        notes.set(path, small.note.id);
      }
      return ask({ ...sample, note: notes.get(path) ?? '', body: { text } });
    }
  }
  return undefined;
}

/** A small note in each memory that is full. */
const notes = new Map<string, string>();
