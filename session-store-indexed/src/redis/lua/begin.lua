-- KEYS: meta. ARGV: epoch, owner, generation.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'gen', 'len', 'slen', 'slog', 'logs', 'trash')
local fenced = fence(v[1], v[2])
if fenced then return fenced end
if tonumber(ARGV[3]) <= num(v[3]) then return { 'G', int(num(v[3])), int(num(v[4])) } end
local log = int(num(v[7]) + 1)
redis.call('HSET', KEYS[1], 'sgen', ARGV[3], 'slen', '0', 'sdigest', '', 'slog', log, 'logs', log,
  'trash', trash(v[8], v[6], num(v[5])))
return { 'O' }
