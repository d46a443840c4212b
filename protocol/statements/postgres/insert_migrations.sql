-- Records migrations as applied, in the batch that applies them.
-- It fails if one of them was recorded before, and so undoes the batch of all but the first of several processes.
-- @param names_json json
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
select name, @clock()
from jsonb_array_elements_text(:names_json::jsonb) as names(name)
