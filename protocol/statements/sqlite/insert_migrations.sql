-- Records migrations as applied. It fails if one of them was recorded before, and so undoes its batch.
-- @param names_json json
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
select value, cast(round(unixepoch('subsec') * 1000) as integer)
from json_each(:names_json)
