import type { FoundItem, FoundKind } from '@suzumio/contract/model/found';
import type { FoundText, Search } from '@suzumio/contract/model/search';
import type { TurnStatus } from '@suzumio/contract/model/states';
import { beginningOf, endOf } from '@suzumio/protocol/cut-text';
import type { MessageRow } from '../mail/messages.js';
import { searching } from '../mail/search-messages.js';
import { projectRow } from '../rows.js';
import { iso, readPart } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';

/** The most messages, turns and names that are looked at for what no index has: some ten milliseconds for each. */
const mostMessages = 300;
const mostTurns = 300;
const mostNames = 2_000;
/** How much of the text of a turn or a task is looked at, in UTF-16 code units. */
const mostChars = 8_000;
/** How much is shown on each side of what was found. */
const aroundChars = 120;

/** What was found of one kind in one project. */
interface Found<Kind extends FoundKind> {
  items: Extract<FoundItem, { kind: Kind }>[];
  /** Whether there is more of it than was asked for. */
  more: boolean;
  /** Whether not everything was looked at. */
  partly: boolean;
}

type Find = { readonly [Kind in FoundKind]: (reader: SqlReader, search: Search, limit: number) => Found<Kind> };

/** Finds words in a project: of each kind the newest first. */
export const findInProject: Find = {
  project(reader, search) {
    const { id, status } = projectRow(reader);
    const row = reader.get<{ task: string }>('SELECT substr(task, 1, :chars) AS task FROM projects', {
      chars: mostChars,
    });
    const task = row?.task ?? '';
    const isFound = has(`${id}\n${task}`, search);
    return taken(isFound ? [{ kind: 'project', project: id, status, found: around(task, search) }] : [], 1);
  },

  agent(reader, search, limit) {
    const { id: project } = projectRow(reader);
    const rows = reader.all<{ id: string; role: string; displayName: string | null }>(
      'SELECT id, role, display_name AS displayName FROM agents ORDER BY position',
    );
    const items = rows
      .filter(({ id, role, displayName }) => has(`${id}\n${role}\n${displayName ?? ''}`, search))
      .map(({ id: agent, role, displayName }) => ({ kind: 'agent', project, agent, role, displayName }) as const);
    return taken(items, limit);
  },

  turn(reader, search, limit) {
    const { id: project } = projectRow(reader);
    const rows = reader.all<{
      agent: string;
      number: number;
      status: TurnStatus;
      atMs: number;
      said: string;
      failed: string;
    }>(
      `SELECT agent_id AS agent, number, status, queued_at_ms AS atMs,
         substr(coalesce(output_text, ''), 1, :chars) AS said,
         substr(coalesce(failure_json ->> '$.code' || ' ' || (failure_json ->> '$.message'), ''), 1, :chars) AS failed
       FROM turns ORDER BY seq DESC LIMIT :most`,
      { chars: mostChars, most: mostTurns },
    );
    const items = rows.flatMap(({ agent, number, status, atMs, said, failed }) => {
      const text = [said, failed].filter((part) => part !== '').join('\n');
      if (!has(`${agent}:${String(number)}\n${text}`, search)) return [];
      const at = iso(atMs);
      return [{ kind: 'turn', project, agent, turnNumber: number, status, at, found: around(text, search) } as const];
    });
    return taken(items, limit, rows.length === mostTurns);
  },

  file(reader, search, limit) {
    const { id: project } = projectRow(reader);
    const rows = reader.all<{ id: string; name: string; creator: string; atMs: number }>(
      'SELECT id, name, creator, created_at_ms AS atMs FROM artifacts ORDER BY seq DESC LIMIT :most',
      { most: mostNames },
    );
    const newest = new Set<string>();
    const items = rows.flatMap(({ id, name, creator, atMs }) => {
      if (newest.has(name) || !has(name, search)) return [];
      newest.add(name);
      return [{ kind: 'file', project, artifact: id, name, creator, at: iso(atMs) } as const];
    });
    return taken(items, limit, rows.length === mostNames);
  },

  mail(reader, search, limit) {
    const { id: project } = projectRow(reader);
    const page = { limit: limit + 1, order: 'desc' } as const;
    const all = { after: 0, before: Number.MAX_SAFE_INTEGER };
    const { rows, found } = searching(reader, search, page, { range: all, seq: 'messages.seq' });
    const { items, previous } = readPart<MessageRow & { snippet?: string }, Extract<FoundItem, { kind: 'mail' }>>(
      reader,
      {
        ...rows,
        from: `${rows.index}messages`,
        columns: `messages.*${rows.columns}`,
        looks: mostMessages,
        texts: ['body'],
      },
      page,
      (row) => ({
        kind: 'mail',
        project,
        seq: row.seq,
        sender: row.sender,
        to: row.recipient ?? row.channel ?? '',
        at: iso(row.created_at_ms),
        found: found(row),
      }),
    );
    return taken(items, limit, previous !== undefined && items.length <= limit);
  },
};

function taken<Item>(items: Item[], limit: number, partly = false): { items: Item[]; more: boolean; partly: boolean } {
  return { items: items.slice(0, limit), more: items.length > limit, partly };
}

/** Whether all that is looked for is in a text, in any case and without regard to accents. */
function has(text: string, { words, verbatim }: Search): boolean {
  const folded = fold(text);
  return words.every((word) => folded.includes(fold(word))) && verbatim.every((part) => text.includes(part));
}

function fold(text: string): string {
  const plain = /^\p{ASCII}*$/u.test(text) ? text : text.normalize('NFD').replaceAll(/\p{M}/gu, '');
  return plain.toLowerCase();
}

/** The first place of what is looked for; the beginning of a text in which it stands otherwise. */
function around(text: string, { words, verbatim }: Search): FoundText {
  const lower = text.toLowerCase();
  const places = [...words, ...verbatim]
    .map((part) => ({ at: lower.indexOf(part.toLowerCase()), length: part.length }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const { at, length } = places[0] ?? { at: 0, length: 0 };
  return [
    { text: endOf(text.slice(0, at), aroundChars), matched: false },
    { text: text.slice(at, at + length), matched: true },
    { text: beginningOf(text.slice(at + length), aroundChars), matched: false },
  ]
    .map((piece) => ({ ...piece, text: piece.text.toWellFormed() }))
    .filter((piece) => piece.text !== '');
}
