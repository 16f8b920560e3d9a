-- KEYS: meta. ARGV: bytes in a part.
local v = redis.call('HMGET', KEYS[1], 'digest', 'size')
if not v[1] then return 0 end
local base = string.sub(KEYS[1], 1, -5) .. v[1] .. ':'
local gone = { KEYS[1] }
for n = 0, math.ceil(tonumber(v[2]) / tonumber(ARGV[1])) - 1 do
  gone[#gone + 1] = base .. string.format('%.0f', n)
end
redis.call('UNLINK', unpack(gone))
return 1
