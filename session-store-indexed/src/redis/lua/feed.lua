-- KEYS: info, feed. ARGV: timestamp, limit.
local v = redis.call('HMGET', KEYS[1], 'floor', 'last')
return { v[1] or '0', v[2] or '0',
  redis.call('XRANGE', KEYS[2], '(' .. ARGV[1] .. '-1', '+', 'COUNT', ARGV[2]) }
