-- KEYS: sessions. ARGV: from which score down, rows, the most bytes of a name. A longer name is cut one byte behind that.
local rows = redis.call('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], '-inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
for i = 1, #rows, 2 do rows[i] = string.sub(rows[i], 1, ARGV[3] + 1) end
return rows
