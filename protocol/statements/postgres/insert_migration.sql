-- Records a migration as applied. It fails if that was done before, and so undoes its batch.
-- @param name text
-- @returns nothing
insert into wadi_migrations (name, applied_at_ms)
values (:name::text, floor(extract(epoch from clock_timestamp()) * 1000)::bigint)
