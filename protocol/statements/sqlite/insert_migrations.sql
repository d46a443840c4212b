-- Records migrations as applied, in the batch that applies them.
-- It fails if one of them was recorded before, and so undoes the batch of all but the first of several processes.
-- SQLite before 3.42 has no fractions of a second, and fails here.
-- @param names_json json
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
select value, coalesce(@clock(), json_extract('{}', 'wadi:sqlite_before_3_42'))
from json_each(:names_json)
