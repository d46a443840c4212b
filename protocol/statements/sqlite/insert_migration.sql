-- Records a migration as applied. It fails if that was done before, and so undoes its batch.
-- @param name text
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
values (:name, cast(round(unixepoch('subsec') * 1000) as integer))
