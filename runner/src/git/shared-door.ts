import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unixDoorPrefix } from '@suzumio/protocol/door';
import {
  pushAnswer,
  type PushRequest,
  pushPath,
  sharedState,
  type SharedState,
} from '@suzumio/protocol/shared-repository';
import { connectorTo } from '../door/connector.js';
import { defaultPatienceMs, type DoorAnswer, DoorClient } from '../door/door-client.js';
import { jsonIn, jsonOf, problemOf } from '../tools/tool-answer.js';
import { TurnFailure } from '../turn-failure.js';
import { gitVariable, serviceSocket, serviceTurn, type SharedTurn } from './shared-turn.js';

/** The way of Git's helper to the shared repository: through the runner of its turn. */
export class SharedDoor {
  private constructor(
    readonly turn: SharedTurn,
    private readonly door: DoorClient,
  ) {}

  /** @throws TurnFailure where no turn runs in this environment */
  static async open({ env, log }: { env: NodeJS.ProcessEnv; log: (line: string) => void }): Promise<SharedDoor> {
    const directory = env[gitVariable];
    const told = directory && (await readFile(join(directory, serviceTurn)).catch(() => undefined));
    if (!directory || !told)
      throw new TurnFailure('the shared repository can be reached by programs of a running turn only');
    const connector = connectorTo(unixDoorPrefix + join(directory, serviceSocket), process);
    return new SharedDoor(
      jsonIn(told) as SharedTurn,
      new DoorClient(connector, { patienceMs: defaultPatienceMs, log }),
    );
  }

  async state(after: number): Promise<SharedState> {
    const answer = await this.door.send({ method: 'GET', path: `/git?after=${after}`, headers: {} });
    return sharedState.parse(jsonOf(accepted(answer)));
  }

  /** Downloads a pack into a file. */
  async receive(sha256: string, file: string): Promise<void> {
    const hash = createHash('sha256');
    const refused = await this.door.receive(
      { method: 'GET', path: `/git/packs/${sha256}`, headers: {} },
      async (body) => pipeline(body, createWriteStream(file)),
    );
    if (refused) accepted(refused);
    for await (const bytes of createReadStream(file)) hash.update(bytes as Buffer);
    if (hash.digest('hex') !== sha256) throw new TurnFailure(`the pack ${sha256} arrived with other bytes`);
  }

  /** Uploads a pack. */
  async store(sha256: string, sizeBytes: number, file: string): Promise<void> {
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
      expect: '100-continue',
    };
    accepted(
      await this.door.send({
        method: 'PUT',
        path: `/git/packs/${sha256}`,
        headers,
        body: () => createReadStream(file),
      }),
    );
  }

  async push(push: Pick<PushRequest, 'key' | 'pack' | 'updates'>): Promise<void> {
    const { project, agent, turn } = this.turn;
    const json = { project, agent, turn, ...push };
    const answer = await this.door.send({ method: 'POST', path: pushPath, headers: {}, json });
    pushAnswer.parse(jsonOf(accepted(answer)));
  }
}

/** @throws TurnFailure with the sentence of a refusal */
function accepted(answer: DoorAnswer): DoorAnswer {
  if (answer.status < 300) return answer;
  const { code, detail } = problemOf(answer);
  throw new TurnFailure(`${code}: ${detail}`);
}
