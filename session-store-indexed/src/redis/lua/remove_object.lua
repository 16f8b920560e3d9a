-- KEYS: meta. ARGV: bytes in a part, the most bytes of an object.
local v = redis.call('HMGET', KEYS[1], 'digest', 'size')
if not v[1] then return 0 end
local base = string.sub(KEYS[1], 1, -5) .. v[1] .. ':'
local gone = { KEYS[1] }
local size = math.min(tonumber(v[2] or '0') or 0, tonumber(ARGV[2]))
for n = 0, math.ceil(size / tonumber(ARGV[1])) - 1 do
  gone[#gone + 1] = base .. string.format('%.0f', n)
end
redis.call('UNLINK', unpack(gone))
return 1
