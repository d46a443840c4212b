-- Records migrations as applied. It fails if one of them was recorded before, and so undoes its batch.
-- @param names_json json
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
select name, floor(extract(epoch from clock_timestamp()) * 1000)::bigint
from jsonb_array_elements_text(:names_json::jsonb) as names(name)
