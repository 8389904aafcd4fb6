import { Option } from 'commander';
import { type FoundItem, foundKinds, type FoundKind } from '@suzumio/contract/model/found';
import { findReads } from '../reach/reach.js';
import { foundTable } from '../render/found-table.js';
import { say, sayHint, sayJson, type Session } from '../session.js';
import type { Register } from './action.js';
import { wholeNumber } from './arguments.js';
import { examples } from './help.js';

/** Finds words in everything. */
export const registerSearch: Register = (program, action) => {
  examples(
    program
      .command('search')
      .description('find words in projects, agents, turns, names of files, and mail')
      .argument('<words...>', 'all of it has to be in one place: words, "a phrase", beginnings of words as pars*')
      .option('--in <project>', 'only in this project')
      .addOption(new Option('--kind <kind>', 'only what is of this kind').choices(foundKinds))
      .option('--limit <n>', 'how many of each kind to show', wholeNumber(1, 100), 20),
    ['search gauge'],
    ['search \'"north gauge"\' --in newsroom', 'a phrase, in one project'],
    ['search checker:3', 'a turn'],
  ).action(action(search));
};

interface SearchOptions {
  in?: string;
  kind?: FoundKind;
  limit: number;
}

/** The most parts of an answer that are asked for. */
const mostParts = 30;

async function search(
  session: Session,
  words: string[],
  { in: project, kind, limit }: SearchOptions,
): Promise<undefined> {
  const api = await findReads(session);
  const query = { q: words.join(' '), project, limit, ...(kind === undefined ? {} : { kind: [kind] }) };
  const found = new Map<FoundKind, FoundItem[]>(foundKinds.map((one) => [one, []]));
  const [more, partly, unreadable] = [new Set<FoundKind>(), new Set<string>(), new Set<string>()];
  let after: string | undefined;
  for (let part = 0; part < mostParts && !session.context.interrupted.aborted; part += 1) {
    const answer = await api.search({ query: { ...query, after } });
    for (const item of answer.items) {
      const of = found.get(item.kind) ?? [];
      if (of.length < limit) of.push(item);
      else more.add(item.kind);
    }
    for (const one of answer.more) more.add(one);
    for (const one of answer.partly) partly.add(one);
    for (const one of answer.unreadable) unreadable.add(one);
    after = answer.next;
    if (after === undefined) break;
  }
  const items = [...found.values()].flat();
  sayJson(session, items);
  say(session, ...(items.length === 0 ? ['Nothing is found.'] : foundTable(items, session)));
  if (more.size > 0) say(session, `More is found (${[...more].join(', ')}): narrow it with --in, or raise --limit.`);
  if (partly.size > 0) {
    const some = [...partly].slice(0, 3).join(', ');
    say(session, `Not all that is old was looked at in ${some}${partly.size > 3 ? ' and others' : ''}: ask with --in.`);
  }
  if (after !== undefined) say(session, `The projects after ${after} were not looked into.`);
  for (const broken of unreadable) say(session, `${broken} cannot be read: ${session.suzumio} verify ${broken}`);
  const [first] = items;
  sayHint(session, first ? nextOf(first) : 'status');
  return undefined;
}

function nextOf(item: FoundItem): string {
  switch (item.kind) {
    case 'project':
      return `status ${item.project}`;
    case 'agent':
      return `why ${item.project} ${item.agent}`;
    case 'turn':
      return `turns show ${item.project} ${item.agent}:${item.turnNumber}`;
    case 'file':
      return `artifacts ${item.project}`;
    case 'mail':
      return `messages show ${item.project} ${item.seq}`;
  }
}
