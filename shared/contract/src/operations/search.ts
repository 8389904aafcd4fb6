import { projectId } from '@suzumio/protocol/ids';
import * as z from 'zod';
import { foundItem, foundKinds } from '../model/found.js';
import { searchText } from '../model/search.js';
import { json, resource } from './operation.js';
import { names, numeral, request } from './request.js';

export const searchQuery = request({
  q: searchText.describe(
    'What is looked for, all of it: words, in any case; `"a phrase"`; the beginning of a word, such as `pars*`. Nothing else in it means anything. In mail they are whole words; in what is named, parts of names.',
  ),
  kind: names(z.enum(foundKinds)).optional().describe('Only of this kind, or of these, with commas between.'),
  project: projectId.optional().describe('Only in this project: more of it is found, and older mail.'),
  limit: numeral(1, 100).default(20).describe('How many of each kind the part has at the most.'),
  after: projectId.optional().describe('The `next` of another part: the part looks into the projects after it.'),
});

export const searchAnswer = z.object({
  items: z.array(foundItem).describe('Kind by kind; of each, the newest of every project before the second of any.'),
  more: z.array(z.enum(foundKinds)).describe('The kinds of which more was found than the part has.'),
  next: z
    .exactOptional(z.string())
    .describe('The `after` that looks into the projects which this part had no time for.'),
  partly: z
    .array(z.string())
    .describe(
      'Projects of which only the newest mail, turns and files were looked at. Asked again, more of their mail is.',
    ),
  unreadable: z.array(z.string()).describe('Projects whose databases cannot be read.'),
});
export type SearchAnswer = z.infer<typeof searchAnswer>;

/** Words, in everything. */
export const search = resource('Projects', {
  search: {
    method: 'get',
    path: '/api/search',
    summary:
      'Finds words in projects, agents, turns, names of files, and mail, in the projects that the token may read.',
    description:
      'Projects by their names and tasks, agents by their names and roles, turns by `agent:number`, what they said and why they failed, files by their names, mail by its text. One part takes two seconds at the most, and has at most five of each kind from a project, unless one project is asked for. The searches of one token are answered one after the other.',
    query: searchQuery,
    answers: { 200: { description: 'A part of what is found.', content: json(searchAnswer) } },
  },
});
