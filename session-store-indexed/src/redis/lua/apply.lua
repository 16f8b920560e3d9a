-- KEYS: meta. ARGV: epoch, owner, generation, start, bytes, digest, meta.
local v = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'gen', 'len', 'log', 'sgen', 'slen', 'slog', 'gone')
local fenced = fence(v[1], v[2])
if fenced then return fenced end
local gen, start, data = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local have, log, staged = num(v[4]), v[5] or '0', false
if gen ~= num(v[3]) then
  if gen ~= tonumber(v[6] or '-1') then return { 'G', int(num(v[3])), int(have) } end
  have, log, staged = num(v[7]), v[8], true
end
if start > have then return { 'G', int(gen), int(have) } end
local stop = start + #data
local common = math.min(stop, have) - start
if common > 0 then
  local at, short = differs(log, start, string.sub(data, 1, common))
  if short then return damaged end
  if at then return { 'C', int(at) } end
end
if stop <= have then
  if staged then return { 'D' } end
  return { 'D', int(gen), int(have) }
end
if redis.call('STRLEN', chunk(log, have)) < have % CHUNK then return damaged end
local at = have
while at < stop do
  local n = math.min(CHUNK - at % CHUNK, stop - at)
  redis.call('SETRANGE', chunk(log, at), at % CHUNK, string.sub(data, at - start + 1, at - start + n))
  if (at + n) % CHUNK == 0 and n < CHUNK then
    -- Growing leaves up to as much room again; a copy has none, and costs the append-only file nothing.
    redis.call('COPY', chunk(log, at), base .. 'log:copy', 'REPLACE')
    redis.call('RENAME', base .. 'log:copy', chunk(log, at))
  end
  at = at + n
end
if staged then
  redis.call('HSET', KEYS[1], 'slen', int(stop), 'sdigest', ARGV[6])
  return { 'O' }
end
redis.call('HSET', KEYS[1], 'gen', int(gen), 'len', int(stop), 'digest', ARGV[6], 'meta', ARGV[7])
if v[9] then redis.call('HDEL', KEYS[1], 'gone', 'moved') end
return { 'O', int(gen), int(stop) }
