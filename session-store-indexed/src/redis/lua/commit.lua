-- KEYS: meta. ARGV: epoch, owner, generation, length, digest, meta.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'gen', 'len', 'log', 'sgen', 'slen', 'slog', 'sdigest',
  'trash', 'committed')
local fenced = fence(v[1], v[2])
if fenced then return fenced end
local gen = tonumber(ARGV[3])
if gen == num(v[3]) and v[11] then
  if v[11] == ARGV[4] .. ' ' .. ARGV[5] then return { 'D' } end
  return { 'C', '0' }
end
if gen ~= tonumber(v[6] or '-1') then return { 'G', int(num(v[3])), int(num(v[4])) } end
if num(v[7]) ~= tonumber(ARGV[4]) then return { 'G', int(gen), int(num(v[7])) } end
if num(v[7]) > 0 and v[9] ~= ARGV[5] then return { 'C', '0' } end
redis.call('HSET', KEYS[1], 'gen', int(gen), 'len', ARGV[4], 'digest', ARGV[5], 'meta', ARGV[6], 'log', v[8],
  'committed', ARGV[4] .. ' ' .. ARGV[5], 'trash', trash(v[10], v[5] or '0', num(v[4])))
redis.call('HDEL', KEYS[1], 'sgen', 'slen', 'slog', 'sdigest', 'gone', 'moved')
return { 'O' }
