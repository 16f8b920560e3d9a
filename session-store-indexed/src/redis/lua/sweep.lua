-- KEYS: meta. Removes chunks of logs nobody reads any more, some at a time; tells whether more are left.
local all = redis.call('HGET', KEYS[1], 'trash')
if not all or all == '' then return 0 end
local log, chunks, rest = string.match(all, '^(%d+) (%d+);(.*)$')
local last = tonumber(chunks)
local first = math.max(last - 256, 0)
local gone = {}
for n = first, last - 1 do gone[#gone + 1] = base .. 'log:' .. log .. ':' .. int(n) end
if first > 0 then rest = log .. ' ' .. int(first) .. ';' .. rest end
redis.call('UNLINK', unpack(gone))
redis.call('HSET', KEYS[1], 'trash', rest)
if rest == '' then return 0 end
return 1
