import type { Redis } from 'ioredis';
import { presenceMs } from './jobs.js';
import type { WorkerPresence } from './transport.js';

/** Time is Redis's own, so that hosts need not agree on theirs. A field is `<slots> <alive until>`. */
const announceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', now + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

const slotsScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local total = 0
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local slots, untilMs = string.match(entries[i + 1], '^(%d+) (%d+)$')
  if slots and tonumber(untilMs) > now then
    total = total + tonumber(slots)
  else
    redis.call('HDEL', KEYS[1], entries[i])
  end
end
return total`;

/** Who works on this Redis: a hash under `key` in which each worker has a field that runs out. */
export function createFleet(client: Redis, key: string) {
  return {
    async announce({ worker, slots }: WorkerPresence): Promise<void> {
      await client.eval(announceScript, 1, key, worker, slots, presenceMs);
    },
    async slots(): Promise<number> {
      return Number(await client.eval(slotsScript, 1, key));
    },
  };
}
