import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SharedDoor } from '../src/git/shared-door.js';
import { gitVariable, serviceSocket, serviceTurn } from '../src/git/shared-turn.js';
import { localProblem, problemAnswer } from '../src/tools/tool-answer.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-shared-'));
  writeFileSync(join(directory, serviceTurn), JSON.stringify({ project: 'lab', agent: 'dev', turn: 'turn_1' }));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

test('a push that is refused is not sent again, and Git is given the reason', async () => {
  let requests = 0;
  const refused = problemAnswer(localProblem(422, 'git-pack-invalid', 'The pack has too much in it.'));
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(refused.status, { 'content-type': refused.contentType }).end(refused.body);
  });
  server.listen(join(directory, serviceSocket));
  await once(server, 'listening');
  try {
    const door = await SharedDoor.open({ env: { [gitVariable]: directory }, log: () => undefined });
    const updates = [{ ref: 'refs/heads/main', from: null, to: '1'.repeat(40) }];
    await expect(door.push({ key: 'the-first-push', updates })).rejects.toThrow(
      'git-pack-invalid: The pack has too much in it.',
    );
    expect(requests).toBe(1);
  } finally {
    server.close();
  }
});
