import express, { type Response, type Router } from 'express';
import { projectId, turnId } from '@suzumio/protocol/ids';
import { type LiveLine, liveLinesType, livePathOf } from '@suzumio/protocol/live';
import { parse } from '@suzumio/runtime/http/validate';
import { writeInTurn } from '@suzumio/runtime/http/write-in-turn';
import { turnCalled } from '@suzumio/store/turns/read-turns';
import { requireService } from './auth.js';
import type { ToolhostContext } from './context.js';
import type { LiveFollower } from './live/live-turn.js';
import { providerSecrets } from './live/provider-secrets.js';

/** How often an idle connection is shown to be alive. */
const beatMs = 10_000;

/** The route by which the API follows a running turn: a line of JSON a frame. */
export function liveRouter(context: ToolhostContext): Router {
  const router = express.Router();
  router.get(livePathOf(':project', ':turn'), async (request, response) => {
    requireService(context, request);
    const project = parse(projectId, request.params['project'], 'project');
    const turn = parse(turnId, request.params['turn'], 'turn');
    const follower = await context.cell.stores.use(project, ({ reader, config }) => {
      turnCalled(reader, turn);
      return Promise.resolve(context.live.follow({ project, turn }, () => providerSecrets(config, context.secrets)));
    });
    response.once('close', () => follower.close());
    response.status(200).set({ 'content-type': liveLinesType, 'cache-control': 'no-store' });
    response.flushHeaders();
    await sendAll(follower, response);
  });
  return router;
}

/** A slow reader is waited for; what comes meanwhile is lost to it. */
async function sendAll(follower: LiveFollower, response: Response): Promise<void> {
  const beats = setInterval(() => {
    if (!response.writableNeedDrain) response.write('\n');
  }, beatMs);
  try {
    for (;;) {
      const frames = await follower.next();
      if (frames === undefined) break;
      await writeInTurn(response, frames.map(lineOf).join(''));
    }
    if (!response.destroyed && follower.isOver) response.write(lineOf({ kind: 'end' }));
    response.end();
  } finally {
    clearInterval(beats);
    follower.close();
  }
}

function lineOf(line: LiveLine): string {
  return `${JSON.stringify(line)}\n`;
}
