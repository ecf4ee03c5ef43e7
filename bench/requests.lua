-- Requests of `wrk` that ask for one item after another, in an order that is not that of the items.
-- Arguments: the request's path with {item} for the number of an item, how many items there are, where to begin.

local template, items, at, step

local function divisor(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

function init(arguments)
  template, items = arguments[1], tonumber(arguments[2])
  at = tonumber(arguments[3]) % items
  step = math.floor(items * 0.618) + 1
  while divisor(step, items) ~= 1 do step = step + 1 end
end

function request()
  at = (at + step) % items
  return wrk.format("GET", (template:gsub("{item}", string.format("%08d", at))))
end
