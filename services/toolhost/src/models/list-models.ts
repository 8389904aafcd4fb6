import { presetsFor } from '@suzumio/core/budgets/presets';
import { externalEngine } from '@suzumio/protocol/handlers';
import { authorizeTool } from '@suzumio/store/turns/authorize';
import { attemptRow } from '@suzumio/store/rows';
import { rejected } from '@suzumio/store/turns/authorize';
import { type PresentedToken } from '../auth.js';
import type { ToolhostContext } from '../context.js';

/**
 * The presets that an attempt may ask, as the list of models that clients of Chat Completions look for.
 *
 * @throws SuzumioError `token-rejected`
 */
export async function listModels({ cell }: ToolhostContext, token: PresentedToken): Promise<object> {
  return cell.stores.use(token.project, (store) => {
    const { agent } = authorizeTool(store.reader, token);
    // A handler has a model of its own.
    if (attemptRow(store.reader, token.turn, token.attempt)?.engine === externalEngine) throw rejected();
    const models = presetsFor(store.config, agent).map((id) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'suzumio',
    }));
    return Promise.resolve({ object: 'list', data: models });
  });
}
