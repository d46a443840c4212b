-- Sets what each key allows from now on. A row that says the same is written only to keep it from being purged.
-- @param limits_json json
-- @param now_ms integer?
-- @returns nothing
with now(ms) as not materialized (
  select coalesce(cast(:now_ms as integer), cast(round(unixepoch('subsec') * 1000) as integer))
),
given(key, concurrency, rate_count, rate_per_ms) as (
  select value->>'key', value->>'concurrency', value->>'rate_count', value->>'rate_per_ms'
  from json_each(:limits_json)
)
insert into wadi_limits (key, concurrency, rate_count, rate_per_ms, updated_at_ms)
select g.key, g.concurrency, g.rate_count, g.rate_per_ms, now.ms
from now cross join given g
where not exists (
  select 1 from wadi_limits l
  where l.key = g.key and l.concurrency is g.concurrency and l.rate_count is g.rate_count
    and l.rate_per_ms is g.rate_per_ms and l.updated_at_ms > now.ms - 1800000
)
on conflict (key) do update set
  concurrency = excluded.concurrency, rate_count = excluded.rate_count, rate_per_ms = excluded.rate_per_ms,
  updated_at_ms = excluded.updated_at_ms
