-- KEYS: meta. ARGV: epoch, owner, the key it moved to or nothing.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'len', 'log', 'slen', 'slog', 'logs', 'trash', 'gone')
if v[9] == ARGV[1] .. ' ' .. ARGV[2] then return { 'D' } end
local fenced = fence(v[1], v[2])
if fenced then return fenced end
local log = int(num(v[7]) + 1)
redis.call('HSET', KEYS[1], 'gen', '0', 'len', '0', 'log', log, 'logs', log, 'gone', ARGV[1] .. ' ' .. ARGV[2],
  'moved', ARGV[3], 'trash', trash(trash(v[8], v[4] or '0', num(v[3])), v[6], num(v[5])))
redis.call('HDEL', KEYS[1], 'owner', 'until', 'digest', 'meta', 'sgen', 'slen', 'slog', 'sdigest', 'committed')
return { 'O' }
