import type { Redis } from 'ioredis';
import { presenceMs } from './jobs.js';
import {
  type LostWorker,
  lostWorkerMs,
  maxLostWorkers,
  type WorkerPresence,
  workerPresence,
} from '@suzumio/protocol/worker-presence';

/**
 * Times are Redis's own, so that hosts' clocks need not agree. A field of the first hash is `<slots> <alive until>`;
 * the second has the full announcements, which are seldom read and may be long. Those of lost workers stay for a day.
 */
const announceScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. string.format('%.0f', now + ARGV[3]))
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 1`;

/** Runs `living` for each live worker and `lost` for each other one, and deletes those that have been lost for long. */
const overWorkers = (living: string, lost = '') => `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local entries = redis.call('HGETALL', KEYS[1])
for i = 1, #entries, 2 do
  local worker = entries[i]
  local slots, untilMs = string.match(entries[i + 1], '^(%d+) (%d+)$')
  if slots and tonumber(untilMs) > now then
    ${living}
  elseif slots and tonumber(untilMs) > now - ${lostWorkerMs} then
    ${lost}
  else
    redis.call('HDEL', KEYS[1], worker)
    redis.call('HDEL', KEYS[2], worker)
  end
end`;

/** Adds up the slots of the fleet in `total`; the fleet's hashes are the first two keys. */
export const countSlots = `
local total = 0
${overWorkers('total = total + tonumber(slots)')}`;

const workersScript = `
local workers = {}
${overWorkers(`table.insert(workers, {worker, slots, redis.call('HGET', KEYS[2], worker) or ''})`)}
return workers`;

const lostScript = `
local lost = {}
${overWorkers('', `table.insert(lost, {worker, tonumber(untilMs), now})`)}
table.sort(lost, function(one, other) return one[2] > other[2] end)
local named = {}
for i = 1, #lost do
  local worker, untilMs, now = unpack(lost[i])
  if i > ${maxLostWorkers} then
    redis.call('HDEL', KEYS[1], worker)
    redis.call('HDEL', KEYS[2], worker)
  else
    named[i] = {worker, now - untilMs + ${presenceMs}, redis.call('HGET', KEYS[2], worker) or ''}
  end
end
return named`;

/** The workers on this Redis: a hash under `key` with an expiring field for each worker, and one beside it. */
export function createFleet(client: Redis, key: string) {
  const keys = [key, `${key}:presence`] as const;
  return {
    keys,
    async announce(presence: WorkerPresence): Promise<void> {
      const { worker, slots } = presence;
      await client.eval(announceScript, 2, ...keys, worker, slots, presenceMs, JSON.stringify(presence), lostWorkerMs);
    },
    async depart(worker: string): Promise<void> {
      await Promise.all(keys.map((hash) => client.hdel(hash, worker)));
    },
    async workers(): Promise<WorkerPresence[]> {
      const living = (await client.eval(workersScript, 2, ...keys)) as [worker: string, slots: string, said: string][];
      return living.map(([worker, slots, said]) => parsePresence(said) ?? { worker, slots: Number(slots) });
    },
    async lost(): Promise<LostWorker[]> {
      const lost = (await client.eval(lostScript, 2, ...keys)) as [worker: string, silentMs: number, text: string][];
      return lost.map(([worker, silentMs, text]) => ({
        presence: parsePresence(text) ?? { worker, slots: 0 },
        silentMs,
      }));
    },
  };
}

/** An unreadable announcement is from a worker of another version, of which only its presence is known. */
function parsePresence(text: string): WorkerPresence | undefined {
  try {
    return workerPresence.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
