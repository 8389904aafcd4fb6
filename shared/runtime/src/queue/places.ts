import type { Redis } from 'ioredis';
import { countSlots } from './fleet.js';

/** The slots of a fleet that has not been announced yet. @default one worker's */
export const slotsWhereUnknown = 4;

/** A place's score is the time (of Redis) at which it was taken. */
const takeScript = `
${countSlots}
if total == 0 then total = tonumber(ARGV[1]) end
local held = redis.call('ZCARD', KEYS[3])
local answer = {}
for i = 2, #ARGV do
  if redis.call('ZSCORE', KEYS[3], ARGV[i]) then
    table.insert(answer, ARGV[i])
  elseif held < total then
    redis.call('ZADD', KEYS[3], now, ARGV[i])
    held = held + 1
    table.insert(answer, ARGV[i])
  end
end
return {total, math.max(0, total - held), answer}`;

const heldScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])`;

/** The places in the queue that turns of one cell hold: a sorted set under `key`, as large as the fleet has slots. */
export function createPlaces(client: Redis, { key, fleet }: { key: string; fleet: readonly [string, string] }) {
  // A fleet that is silent for a moment is assumed unchanged: jobs that wait for it do no harm.
  let lastSlots = slotsWhereUnknown;
  return {
    key,
    async take(wanted: readonly string[]): Promise<{ held: ReadonlySet<string>; free: number }> {
      const [slots, free, held] = (await client.eval(takeScript, 3, ...fleet, key, lastSlots, ...wanted)) as [
        slots: number,
        free: number,
        held: string[],
      ];
      lastSlots = slots;
      return { held: new Set(held), free };
    },
    held: async (olderThanMs: number): Promise<string[]> =>
      (await client.eval(heldScript, 1, key, olderThanMs)) as string[],
  };
}
