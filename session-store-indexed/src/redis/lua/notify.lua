-- KEYS: info, feed, sessions. ARGV: events kept, then session and value of each event.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local at = math.max(now, tonumber(redis.call('HGET', KEYS[1], 'last') or '0') + 1)
local function int(n) return string.format('%.0f', n) end
-- First, so that an interruption wastes timestamps and never gives one twice.
local count = (#ARGV - 1) / 2
redis.call('HSET', KEYS[1], 'last', int(at + count))
for i = 2, #ARGV, 2 do
  redis.call('XADD', KEYS[2], int(at) .. '-1', 'k', ARGV[i], 'c', ARGV[i + 1])
  redis.call('ZADD', KEYS[3], int(at), ARGV[i])
  at = at + 1
end
local over = redis.call('XLEN', KEYS[2]) - tonumber(ARGV[1])
if over > 0 then
  local old = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', over)
  redis.call('HSET', KEYS[1], 'floor', string.match(old[#old][1], '^(%d+)'))
  redis.call('XTRIM', KEYS[2], 'MAXLEN', ARGV[1])
end
return 1
