-- Lets one migration run at a time: schema changes that race end in errors of the catalog.
-- The lock is that of the ledger's name with its schema, so that installations of one database do not wait for each
-- other. It ends with the transaction.
-- @only postgres: SQLite has one writer at a time
-- @returns lock
select pg_advisory_xact_lock(hashtextextended('@schema.wadi_migrations', 0)) as lock
