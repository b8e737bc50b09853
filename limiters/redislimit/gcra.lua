-- Grants n events by the generic cell rate algorithm, all of them or none.
--
-- KEYS[1] is the theoretical arrival time: "seconds microseconds" since 1970, apart because a number of Lua, a
-- double, holds whole microseconds until 2255 only. ARGV is the interval in microseconds, the burst and n; and then
-- the instant, in seconds and microseconds, if it is not the server's.
--
-- Returns 1 or 0 for granted or not, and how many microseconds the arrival time is ahead of the instant now.
local interval, burst, n = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local sec, usec = ARGV[4], ARGV[5]
if not sec then
  local now = redis.call('TIME') -- once: up to Redis 7.0 it goes on while a script runs
  sec, usec = now[1], now[2]
end
sec, usec = tonumber(sec), tonumber(usec)

local ahead = 0
local stored = redis.call('GET', KEYS[1])
if stored then
  local s, us = string.match(stored, '^(%-?%d+) (%d+)$')
  if not s then
    return redis.error_reply('ERR redislimit: the key holds something else than an arrival time')
  end
  ahead = math.max(0, (tonumber(s) - sec) * 1000000 + tonumber(us) - usec)
end

if n > 0 then
  local next = ahead + n * interval
  if next > burst * interval then
    return {0, math.min(ahead, 9007199254740992)} -- more than 2^53 only if the clock went back by centuries
  end
  ahead = next
  local at = usec + ahead
  local carry = math.floor(at / 1000000)
  -- Numbers become text by format, as tostring keeps 14 digits. The server forgets the key a little after the arrival
  -- time, when nobody can tell.
  redis.call('SET', KEYS[1], string.format('%.0f %.0f', sec + carry, at - carry * 1000000),
    'PX', string.format('%.0f', math.ceil(ahead / 1000) + 1))
end
return {1, math.min(ahead, 9007199254740992)}
