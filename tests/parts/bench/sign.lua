-- wrk -s sign.lua URL -- PAYLOAD_FILE SIGNATURE EVENT: the same signed delivery over and over, each with an id of its own.
local body, signature, event, count, run
function init(args)
  local file = assert(io.open(args[1], "rb"))
  body = file:read("*a")
  file:close()
  signature, event, count = args[2], args[3], 0
  local random = assert(io.open("/dev/urandom", "rb"))
  local a, b, c, d = random:read(4):byte(1, 4)
  random:close()
  run = string.format("%02x%02x%02x%02x", a, b, c, d)
end
function request()
  count = count + 1
  -- Like GitHub's own ids: in no order.
  local scattered = (count * 2654435761) % 4294967296
  return wrk.format("POST", nil, {
    ["content-type"] = "application/json",
    ["user-agent"] = "GitHub-Hookshot/bench",
    ["x-github-event"] = event,
    ["x-github-delivery"] = string.format("%08x-%s-4000-8000-%012x", scattered, run:sub(1, 4), count),
    ["x-hub-signature-256"] = signature,
  }, body)
end
function done(summary, latency)
  io.write(string.format('RESULT {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"wrong":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
