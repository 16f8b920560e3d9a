-- KEYS: meta. ARGV: the most bytes of a field, then the fields. A longer one is not sent.
local most = tonumber(ARGV[1])
local v = redis.call('HMGET', KEYS[1], unpack(ARGV, 2))
for i = 1, #ARGV - 1 do
  if v[i] and #v[i] > most then
    return { err = 'OVERSIZE its field `' .. ARGV[i + 1] .. '` has ' .. #v[i] .. ' bytes' }
  end
end
return v
