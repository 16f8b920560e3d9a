-- KEYS: meta. ARGV: session, owner, lease in ms, force, highest epoch seen.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'until')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local epoch, owner, left, seen = num(v[1]), v[2] or '', num(v[3]) - now, tonumber(ARGV[5])
if owner ~= '' and owner ~= ARGV[2] and left > 0 and ARGV[4] ~= '1' then
  return { 'H', int(epoch), owner, int(left) }
end
if owner ~= ARGV[2] or epoch < seen then epoch = math.max(epoch, seen) + 1 end
redis.call('HSET', KEYS[1], 'key', ARGV[1], 'epoch', int(epoch), 'owner', ARGV[2], 'until',
  int(now + tonumber(ARGV[3])))
return { 'O', int(epoch) }
