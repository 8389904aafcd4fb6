import type { Redis } from 'ioredis';
import { presenceMs } from './jobs.js';
import { type WorkerPresence, workerPresence } from './presence.js';

/** Time is Redis's own, so that hosts need not agree on theirs. A field is `<slots> <alive until> <the whole presence>`. */
const announceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', now + ARGV[3]) .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

/** Calls `living(worker, slots, presence)` for each field that has not run out, and deletes the others. */
const overLiving = (living: string) => `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local slots, untilMs, presence = string.match(entries[i + 1], '^(%d+) (%d+) (.*)$')
  if slots and tonumber(untilMs) > now then
    ${living}
  else
    redis.call('HDEL', KEYS[1], entries[i])
  end
end`;

const slotsScript = `
local total = 0
${overLiving('total = total + tonumber(slots)')}
return total`;

const workersScript = `
local workers = {}
${overLiving('table.insert(workers, presence)')}
return workers`;

/** Who works on this Redis: a hash under `key` in which each worker has a field that runs out. */
export function createFleet(client: Redis, key: string) {
  return {
    async announce(presence: WorkerPresence): Promise<void> {
      const { worker, slots } = presence;
      await client.eval(announceScript, 1, key, worker, slots, presenceMs, JSON.stringify(presence));
    },
    async depart(worker: string): Promise<void> {
      await client.hdel(key, worker);
    },
    async slots(): Promise<number> {
      return Number(await client.eval(slotsScript, 1, key));
    },
    async workers(): Promise<WorkerPresence[]> {
      const said = (await client.eval(workersScript, 1, key)) as string[];
      return said.flatMap((text) => parsePresence(text) ?? []);
    },
  };
}

/** What cannot be read was said by a worker of another version. */
function parsePresence(text: string): WorkerPresence | undefined {
  try {
    return workerPresence.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
