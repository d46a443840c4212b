-- Records migrations as applied. It fails if one of them was recorded before, and so undoes its batch.
-- An SQLite before 3.42 has no fractions of a second, and fails here.
-- @param names_json json
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
select value, coalesce(cast(round(unixepoch('subsec') * 1000) as integer), json_extract('{}', 'wadi:sqlite_before_3_42'))
from json_each(:names_json)
