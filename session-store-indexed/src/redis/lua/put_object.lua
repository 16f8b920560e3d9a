-- KEYS: meta. ARGV: key, size, digest, bytes in a part.
local v = redis.call('HMGET', KEYS[1], 'digest', 'size')
if v[1] then
  if v[1] == ARGV[3] then return 'D' end
  return 'X'
end
local size, part = tonumber(ARGV[2]), tonumber(ARGV[4])
local base = string.sub(KEYS[1], 1, -5) .. ARGV[3] .. ':'
for n = 0, math.ceil(size / part) - 1 do
  if redis.call('STRLEN', base .. string.format('%.0f', n)) ~= math.min(part, size - n * part) then return 'M' end
end
redis.call('HSET', KEYS[1], 'key', ARGV[1], 'size', ARGV[2], 'digest', ARGV[3])
return 'O'
