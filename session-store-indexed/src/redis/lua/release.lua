-- KEYS: meta. ARGV: epoch, owner.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner')
if fence(v[1], v[2]) then return 0 end
redis.call('HDEL', KEYS[1], 'owner', 'until')
return 1
