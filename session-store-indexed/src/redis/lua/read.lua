-- KEYS: meta. ARGV: offset, limit.
local v = redis.call('HMGET', KEYS[1], 'gen', 'len', 'log', 'epoch')
if not v[4] then return false end
local len, log = num(v[2]), v[3] or '0'
local at = tonumber(ARGV[1])
local stop = math.min(at + tonumber(ARGV[2]), len)
local parts = {}
while at < stop do
  local n = math.min(CHUNK - at % CHUNK, stop - at)
  local part = redis.call('GETRANGE', chunk(log, at), at % CHUNK, at % CHUNK + n - 1)
  if #part < n then return damaged end
  parts[#parts + 1] = part
  at = at + n
end
return { int(num(v[1])), int(len), table.concat(parts) }
