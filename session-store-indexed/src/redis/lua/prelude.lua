local CHUNK = 65536
local base = string.sub(KEYS[1], 1, -5)
local damaged = { err = 'DAMAGED bytes of the log are missing' }
local function num(v) return tonumber(v or '0') end
local function int(n) return string.format('%.0f', n) end
local function chunk(log, at) return base .. 'log:' .. log .. ':' .. int(math.floor(at / CHUNK)) end
local function fence(epoch, owner)
  if epoch ~= ARGV[1] or owner ~= ARGV[2] then return { 'F', epoch or '0', owner or '' } end
end
local function difference(a, b)
  local low, high = 1, #b
  while low < high do
    local mid = math.floor((low + high) / 2)
    if string.sub(a, low, mid) == string.sub(b, low, mid) then low = mid + 1 else high = mid end
  end
  return low - 1
end
local function differs(log, from, data)
  local at = from
  while at < from + #data do
    local n = math.min(CHUNK - at % CHUNK, from + #data - at)
    local old = redis.call('GETRANGE', chunk(log, at), at % CHUNK, at % CHUNK + n - 1)
    if #old < n then return nil, true end
    local new = string.sub(data, at - from + 1, at - from + n)
    if old ~= new then return at + difference(old, new) end
    at = at + n
  end
end
local function trash(old, log, len)
  if not log or len == 0 then return old or '' end
  return (old or '') .. log .. ' ' .. int(math.ceil(len / CHUNK)) .. ';'
end
