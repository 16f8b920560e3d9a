-- KEYS: meta. Removes chunks of logs nobody reads any more, some at a time; tells whether more are left.
local all = redis.call('HGET', KEYS[1], 'trash')
if not all or all == '' then return 0 end
local log, chunks, rest = string.match(all, '^(%d+) (%d+);(.*)$')
-- What nothing of this package wrote names no chunks.
if not log or #chunks > 15 then
  redis.call('HSET', KEYS[1], 'trash', '')
  return 0
end
local last = tonumber(chunks)
local first = math.max(last - 256, 0)
local gone = {}
for n = first, last - 1 do gone[#gone + 1] = base .. 'log:' .. log .. ':' .. int(n) end
if first > 0 then rest = log .. ' ' .. int(first) .. ';' .. rest end
if #gone > 0 then redis.call('UNLINK', unpack(gone)) end
redis.call('HSET', KEYS[1], 'trash', rest)
if rest == '' then return 0 end
return 1
