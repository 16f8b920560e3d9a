-- KEYS: objects. ARGV: first, end, rows, the most bytes of a name. A longer name is cut one byte behind that.
local rows = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
for i = 1, #rows do rows[i] = string.sub(rows[i], 1, ARGV[4] + 1) end
return rows
