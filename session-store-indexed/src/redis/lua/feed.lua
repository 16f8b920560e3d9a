-- KEYS: info, feed. ARGV: timestamp, limit, the most bytes of a field. A longer one is cut one byte behind that.
local v = redis.call('HMGET', KEYS[1], 'floor', 'last')
local rows = redis.call('XRANGE', KEYS[2], '(' .. ARGV[1] .. '-18446744073709551615', '+', 'COUNT', ARGV[2])
for i = 1, #rows do
  local fields = {}
  for n = 1, math.min(#rows[i][2], 5) do fields[n] = string.sub(rows[i][2][n], 1, ARGV[3] + 1) end
  rows[i][2] = fields
end
return { v[1] or '0', v[2] or '0', rows }
