-- Lets one migration run at a time: schema changes that race end in catalog errors.
-- @only postgres: SQLite has one writer at a time
-- @returns lock
select pg_advisory_xact_lock(hashtextextended('@schema.wadi_migrations', 0)) as lock
