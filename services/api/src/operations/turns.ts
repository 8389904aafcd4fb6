import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import type { turns } from '@suzumio/contract/operations/turns';
import { listConversation } from '@suzumio/store/turns/conversation';
import { findTurn, listToolCalls, listTurns, turnCalled } from '@suzumio/store/turns/read-turns';
import { agentRow } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { readTurnLog } from '@suzumio/store/content/turn-logs';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import type { EventHub } from '../events/event-hub.js';
import type { OpenAccess } from '../open-access.js';
import { followTurn } from './follow-turn.js';
import type { Runs } from '../routes.js';

export const turnRuns = (hub: EventHub, access: OpenAccess): Runs<typeof turns> => ({
  listTurns: (call) =>
    call.read((reader) => {
      const { agent } = call.query;
      if (agent !== undefined) agentRow(reader, agent);
      return listTurns(reader, call.query);
    }),

  getTurn: (call) => call.read((reader) => knownTurn(reader, call.params.turn, call.query.without !== 'calls')),

  async getTurnLog(call) {
    const { project, turn: name } = call.params;
    const turn = await call.read((reader) => turnCalled(reader, name));
    const of = { turn_id: turn.id, number: call.query.attempt ?? turn.attempt };
    if (of.number > turn.attempt) {
      throw new SuzumioError(
        'turn-unknown',
        `Turn ${turn.number} of ${turn.agent_id} has had no attempt ${of.number}.`,
      );
    }
    call.response.type('text/plain; charset=utf-8');
    call.response.send(await readTurnLog(call.context.cell.directory.projectDir(project), of));
  },

  getTurnConversation: (call) =>
    call.read((reader, { config }) =>
      listConversation(reader, config, turnCalled(reader, call.params.turn).id, call.query),
    ),

  followTurn: (call) => followTurn(call, hub, access),

  cancelTurn: (call) => call.write((tx) => cancelActiveTurn(tx, call.params.turn, call.actor)),

  listToolCalls: (call) =>
    call.read((reader) => {
      const { turn, ...page } = call.query;
      const id = turn === undefined ? undefined : turnCalled(reader, turn).id;
      if (page.agent !== undefined) agentRow(reader, page.agent);
      return listToolCalls(reader, { ...page, turn: id });
    }),
});

function knownTurn(reader: SqlReader, name: string, withCalls: boolean): TurnDetail {
  const turn = findTurn(reader, turnCalled(reader, name).id, { withCalls });
  if (!turn) throw new Error(`${name} went away`);
  return turn;
}
